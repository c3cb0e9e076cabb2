"""Makes what the server serves, below FOLDER: tree.py FOLDER

tree/large (8 files of 8 MiB), tree/small (1024 files of 1 to 16 KiB in 16 folders), tree.squashfs
of both, and disk.img (64 MiB). Of each 128 KiB two fifths are random and the rest zeros, so that
SquashFS makes 2 of 5. Always the same bytes.
"""

import os
import random
import subprocess
import sys

BLOCK = 128 * 1024
RANDOM = BLOCK * 2 // 5


def fill(path, size, generator):
    with open(path, "wb") as file:
        while size > 0:
            block = generator.randbytes(RANDOM) + bytes(BLOCK - RANDOM)
            file.write(block[:size])
            size -= BLOCK


def main():
    folder = sys.argv[1]
    tree = os.path.join(folder, "tree")
    generator = random.Random(1)
    os.makedirs(os.path.join(tree, "large"))
    for i in range(8):
        fill(os.path.join(tree, "large", f"{i}"), 8 << 20, generator)
    for i in range(1024):
        place = os.path.join(tree, "small", f"{i // 64:02}")
        os.makedirs(place, exist_ok=True)
        size = generator.randrange(1 << 10, 16 << 10)
        with open(os.path.join(place, f"{i:04}"), "wb") as file:
            file.write(generator.randbytes(size * 2 // 5) + bytes(size - size * 2 // 5))
    fill(os.path.join(folder, "disk.img"), 64 << 20, generator)
    subprocess.run(["mksquashfs", tree, os.path.join(folder, "tree.squashfs"), "-quiet",
                    "-no-progress", "-comp", "gzip", "-Xcompression-level", "1", "-all-root"],
                   check=True)


main()
