"""What bmclab is made of."""
