"""The bonding driver's transmit hash (Linux 6.1) as classic BPF for tc's bpf filter.

A program takes the frames whose hash, modulo the number of ports, is one port's index. Written from
the formulas that console/model/bond_hash.h names; where a header is cut short, it decides as the
driver does: without an IP header the MACs and the ethertype, without ports the addresses alone.
Packet words are loaded big-endian and XORed so; one byte swap then gives the driver's little-endian
word.
"""

POLICIES = ("layer2", "layer2+3", "layer3+4")

LD_B, LD_H, LD_W = 0x30, 0x28, 0x20  # packet, absolute
LDI_B, LDI_H, LDI_W = 0x50, 0x48, 0x40  # packet, from X on
LD_LENGTH, LD_MEMORY, LDX_MEMORY, LD_NUMBER, LDX_HEADER = 0x80, 0x60, 0x61, 0x00, 0xB1
STORE, TAX, RETURN = 0x02, 0x07, 0x06
ADD, AND, LSH, RSH, MOD, OR_X, XOR_X, ADD_X = 0x04, 0x54, 0x64, 0x74, 0x94, 0x4C, 0xAC, 0x0C
JUMP, JEQ, JGE_X, JGE, JSET = 0x05, 0x15, 0x3D, 0x35, 0x45

ETHERNET, IPV4_HEADER, IPV6_HEADER, ICMP_HEADER = 14, 20, 40, 8
TAKE = 0xFFFFFFFF
ICMP, ICMPV6 = 1, 58
PORTS_FIRST = (6, 17, 33, 50, 132, 136)  # TCP, UDP, DCCP, ESP, SCTP, UDP-Lite
AUTHENTICATION_HEADER = 51  # its SPI, behind four bytes, serves as ports
ERRORS = {ICMP: (3, 4, 5, 11, 12), ICMPV6: (1, 2, 3, 4)}
FAR = ("hash", "plain", "ip6")
WITH_ID = (0, 8, 13, 14, 128, 129)

# Scratch memory
LITTLE, BIG, OFFSET, SWAP, LENGTH = range(5)


class Assembler:
    """Instructions with named places; jumps go forward."""

    def __init__(self):
        self.code = []
        self.places = {}

    def add(self, operation, number=0):
        self.code.append((operation, None, None, number))

    def jump(self, operation, number, true=None, false=None):
        """To the one place named, if the test is true or if it is false; else on."""
        assert (true is None) != (false is None)
        if (true or false) in FAR:
            # A conditional jump spans 255 instructions: step over an unconditional one.
            skip = f"over {len(self.code)}"
            self.code.append((operation, None if true else skip, skip if true else None, number))
            self.go(true or false)
            self.place(skip)
        else:
            self.code.append((operation, true, false, number))

    def go(self, place):
        self.code.append((JUMP, place, None, 0))

    def place(self, name):
        self.places[name] = len(self.code)

    def assemble(self):
        done = []
        for at, (operation, true, false, number) in enumerate(self.code):
            far = [0 if name is None else self.places[name] - at - 1 for name in (true, false)]
            if operation == JUMP:
                far, number = [0, 0], far[0]
            assert all(0 <= jump < 256 for jump in far) and number >= 0
            done.append((operation, *far, number))
        assert len(done) <= 4096
        return done


def _ethernet(asm):
    asm.add(LD_B, 5)
    asm.add(TAX)
    asm.add(LD_B, 11)
    asm.add(XOR_X)
    asm.add(TAX)
    asm.add(LD_H, 12)
    asm.add(XOR_X)
    asm.add(STORE, LITTLE)


def _need(asm, size, otherwise):
    """Goes to OTHERWISE unless the frame has SIZE bytes from OFFSET on; leaves OFFSET in X."""
    asm.add(LD_MEMORY, OFFSET)
    asm.add(ADD, size)
    asm.add(TAX)
    asm.add(LD_LENGTH)
    asm.jump(JGE_X, 0, None, otherwise)
    asm.add(LDX_MEMORY, OFFSET)


def _addresses(asm, first, words):
    """XORs WORDS words from FIRST bytes behind X into BIG."""
    asm.add(LD_NUMBER, 0)
    asm.add(STORE, BIG)
    for i in range(words):
        asm.add(LDI_W, first + 4 * i)
        asm.add(LDX_MEMORY, BIG)
        asm.add(XOR_X)
        asm.add(STORE, BIG)
        asm.add(LDX_MEMORY, OFFSET)


def _ip(asm, version, plain, fragment):
    """Reads the IP header at OFFSET and steps over it; leaves the protocol in A."""
    if version == 4:
        _need(asm, IPV4_HEADER, plain)
        _addresses(asm, 12, 2)
        asm.add(LDI_B, 9)
        asm.add(STORE, LENGTH)  # borrowed for the protocol
        asm.add(LDI_H, 6)
        asm.jump(JSET, 0x3FFF, fragment, None)
        asm.add(LDI_B, 0)
        asm.add(AND, 0xF)
        asm.add(LSH, 2)
        asm.add(ADD_X)
        asm.add(STORE, OFFSET)
        asm.add(LD_MEMORY, LENGTH)
    else:
        _need(asm, IPV6_HEADER, plain)
        _addresses(asm, 8, 8)
        asm.add(LDI_B, 6)
        asm.add(STORE, LENGTH)
        asm.add(LD_MEMORY, OFFSET)
        asm.add(ADD, IPV6_HEADER)
        asm.add(STORE, OFFSET)
        asm.add(LD_MEMORY, LENGTH)


def _ports(asm, prefix):
    """A has the protocol; XORs the ports at OFFSET into BIG and goes to the hash."""
    for protocol in PORTS_FIRST:
        asm.jump(JEQ, protocol, prefix + "ports", None)
    asm.jump(JEQ, AUTHENTICATION_HEADER, None, "hash")
    asm.add(LD_MEMORY, OFFSET)
    asm.add(ADD, 4)
    asm.add(STORE, OFFSET)
    asm.place(prefix + "ports")
    _need(asm, 4, "hash")
    asm.add(LDI_W, 0)
    asm.add(LDX_MEMORY, BIG)
    asm.add(XOR_X)
    asm.add(STORE, BIG)
    asm.go("hash")


def _echo(asm):
    """LITTLE becomes type | code << 8 | id << 16, the id as a number and never 0."""
    asm.add(LDX_MEMORY, OFFSET)
    asm.add(LDI_B, 0)
    asm.add(STORE, LITTLE)
    asm.add(LDI_B, 1)
    asm.add(LSH, 8)
    asm.add(LDX_MEMORY, LITTLE)
    asm.add(OR_X)
    asm.add(STORE, LITTLE)
    asm.add(LDX_MEMORY, OFFSET)
    asm.add(LDI_H, 4)


def _icmp(asm, protocol, version, layer4):
    """An error message follows the flow it complains about; an echo has its id for ports."""
    prefix = f"{version}-{protocol}-"
    _need(asm, ICMP_HEADER, "hash")
    asm.add(LDI_B, 0)
    for kind in ERRORS[protocol]:
        asm.jump(JEQ, kind, prefix + "error", None)
    if layer4:
        for kind in WITH_ID:
            asm.jump(JEQ, kind, prefix + "echo", None)
    asm.go("hash")
    if layer4:
        asm.place(prefix + "echo")
        _echo(asm)
        asm.jump(JEQ, 0, None, prefix + "id")
        asm.add(LD_NUMBER, 1)
        asm.place(prefix + "id")
        asm.add(LSH, 16)
        asm.add(LDX_MEMORY, LITTLE)
        asm.add(OR_X)
        asm.add(STORE, LITTLE)
        asm.go("hash")
    asm.place(prefix + "error")
    asm.add(LD_MEMORY, OFFSET)
    asm.add(ADD, ICMP_HEADER)
    asm.add(STORE, OFFSET)
    _ip(asm, version, "plain", "hash")
    if layer4:
        _ports(asm, prefix)
    else:
        asm.go("hash")


def _version(asm, version, layer4):
    asm.place(f"ip{version}")
    asm.add(LD_NUMBER, ETHERNET)
    asm.add(STORE, OFFSET)
    if layer4:
        asm.add(LD_NUMBER, 0)
        asm.add(STORE, LITTLE)
    _ip(asm, version, "plain", "hash")
    asm.jump(JEQ, ICMP, f"{version}-icmp", None)
    asm.jump(JEQ, ICMPV6, f"{version}-icmp6", None)
    if layer4:
        _ports(asm, f"{version}-")
    else:
        asm.go("hash")
    for name, protocol in (("icmp", ICMP), ("icmp6", ICMPV6)):
        asm.place(f"{version}-{name}")
        _icmp(asm, protocol, version, layer4)


def _fold(asm, layer4):
    """The byte swap of BIG, XOR LITTLE, folded."""
    asm.add(LD_MEMORY, BIG)
    asm.add(RSH, 24)
    asm.add(STORE, SWAP)
    for shift, by, mask in ((RSH, 8, 0xFF00), (LSH, 8, 0xFF0000), (LSH, 24, 0xFF000000)):
        asm.add(LD_MEMORY, BIG)
        asm.add(shift, by)
        asm.add(AND, mask)
        asm.add(LDX_MEMORY, SWAP)
        asm.add(OR_X)
        asm.add(STORE, SWAP)
    asm.add(LDX_MEMORY, LITTLE)
    asm.add(XOR_X)
    for by in (16, 8):
        asm.add(TAX)
        asm.add(RSH, by)
        asm.add(XOR_X)
    if layer4:
        asm.add(RSH, 1)


def program(policy, ports, index):
    """Instructions (code, jump if true, jump if false, number) that take port INDEX's frames."""
    assert policy in POLICIES and 0 <= index < ports
    asm = Assembler()
    _ethernet(asm)
    if policy != "layer2":
        layer4 = policy == "layer3+4"
        asm.add(LD_H, 12)
        asm.jump(JEQ, 0x0800, "ip4", None)
        asm.jump(JEQ, 0x86DD, "ip6", None)
        asm.go("plain")
        _version(asm, 4, layer4)
        _version(asm, 6, layer4)
        asm.place("hash")
        _fold(asm, layer4)
        asm.go("port")
        asm.place("plain")
        if layer4:
            _ethernet(asm)  # LITTLE was cleared
    asm.add(LD_MEMORY, LITTLE)
    asm.place("port")
    asm.add(MOD, ports)
    asm.jump(JEQ, index, None, "pass")
    asm.add(RETURN, TAKE)
    asm.place("pass")
    asm.add(RETURN, 0)
    return asm.assemble()


def bytecode(policy, ports, index):
    """The program as tc takes it."""
    code = program(policy, ports, index)
    return ",".join([str(len(code))] + [" ".join(map(str, line)) for line in code])
