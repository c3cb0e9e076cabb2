/* The transmit hash of the Linux bonding driver, by era: which port a frame leaves by.
 *
 * Source: drivers/net/bonding/bond_main.c of Linux 6.1 (era 5.18), of 4.14 (whose `>> 1` wrongly
 * hit layer2+3 as well), of 3.13 (folding, ethertype not yet in host order), and 2.6.32.
 * The hash steers what the bond sends. Pure functions, no state.
 */
#ifndef PULT_MODEL_BOND_HASH_H
#define PULT_MODEL_BOND_HASH_H

#include <glib.h>

typedef enum {
  BOND_LAYER2,
  BOND_LAYER2_3,
  BOND_LAYER3_4,
  BOND_VLAN_SRCMAC,
} BondPolicy;

typedef enum {
  BOND_ERA_2_6_32,
  BOND_ERA_3_13,
  BOND_ERA_4_14,
  BOND_ERA_5_18,
} BondEra;

typedef struct {
  guint8 byte[6];
} MacAddress;

/* FRAME is an Ethernet frame from its destination address on; what a truncated one lacks counts
 * as absent, as the driver does: without an IP header the MACs decide, without ports the addresses;
 * 0 below 14 bytes. One VLAN tag (802.1Q or 802.1ad) counts for vlan+srcmac alone: the driver gets
 * it beside the frame. That policy came with Linux 5.12; its formula is the same in every era. */
guint32 bond_hash_frame(BondPolicy policy, BondEra era, const guint8 *frame, gsize length);

/* The port for HASH: index into the N_PORTS ports in the order they were enslaved. USABLE[i] says
 * which are up and active. 2.6.32 takes the hash modulo all ports, and a dead port's flows go to
 * the next usable one; later eras take it modulo the usable ones. (The driver does so since 3.18: a
 * kernel 3.13 to 3.17 with a dead port is 2.6.32 here.) -1 when none is usable. */
int bond_port(BondEra era, guint32 hash, const gboolean *usable, guint n_ports);

/* The hash of an IPv4/TCP frame between two machines, ports as given (host order; they matter to
 * layer3+4 alone). Addresses in host order. */
guint32 bond_hash_ipv4(BondPolicy policy, BondEra era, const MacAddress *source,
                       const MacAddress *destination, guint32 source_ip, guint32 destination_ip,
                       guint16 source_port, guint16 destination_port);

/* Words: layer2 layer2+3 layer3+4 vlan+srcmac · 2.6.32 3.13 4.14 5.18; -1 when no such word. */
const char *bond_policy_name(BondPolicy policy);
int bond_policy_parse(const char *word);
const char *bond_era_name(BondEra era);
int bond_era_parse(const char *word);

#endif
