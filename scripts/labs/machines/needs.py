"""What a lab needs of the machine, said in one line when it is not there."""

from namespaces import needs, plan as names

PROGRAMS = {
    "ip": "iproute2", "tc": "iproute2", "/usr/sbin/libvirtd": "libvirt-daemon",
    "/usr/lib/x86_64-linux-gnu/libvirt/connection-driver/libvirt_driver_qemu.so":
        "libvirt-daemon-driver-qemu",
    "virsh": "libvirt-clients", "qemu-system-x86_64": "qemu-system-x86",
    "/usr/lib/ipxe/qemu/pxe-virtio.rom": "ipxe-qemu", "/usr/lib/ipxe/ipxe.lkrn": "ipxe",
    "dnsmasq": "dnsmasq-base", "/usr/lib/PXELINUX/pxelinux.0": "pxelinux",
    "/usr/lib/syslinux/modules/bios/menu.c32": "syslinux-common", "cpio": "cpio",
    "depmod": "kmod", "ssh-keygen": "openssh-client", "/usr/bin/ganesha.nfsd": "nfs-ganesha",
    "/usr/lib/ganesha/libfsalvfs.so": "nfs-ganesha-vfs", "/usr/sbin/rpcbind": "rpcbind",
    "/usr/bin/nbd-server": "nbd-server", "mksquashfs": "squashfs-tools",
}


def check():
    missing = needs.missing(PROGRAMS)
    if missing:
        raise names.Wrong(f"missing packages: {' '.join(missing)} (scripts/install-deps room)")
