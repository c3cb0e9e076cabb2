"""Makes what the server serves, below FOLDER: tree.py FOLDER [IMAGE]

tree/large (8 files of 8 MiB), tree/small (1024 files of 1 to 16 KiB in 16 folders), tree.squashfs
of both, and disk.img (64 MiB). Of each 128 KiB two fifths are random and the rest alike, so that
SquashFS makes 2 of 5. Always the same bytes. With IMAGE, FOLDER and all that is in it is moved into
a file system there.
"""

import os
import random
import shutil
import subprocess
import sys

BLOCK = 128 * 1024
RANDOM = BLOCK * 2 // 5
FILL = b"\xff"  # zeros would be holes of IMAGE, which no disk is asked for
SIZE = "4G"  # of which the host keeps what is used


def fill(path, size, generator):
    with open(path, "wb") as file:
        while size > 0:
            block = generator.randbytes(RANDOM) + FILL * (BLOCK - RANDOM)
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
            file.write(generator.randbytes(size * 2 // 5) + FILL * (size - size * 2 // 5))
    fill(os.path.join(folder, "disk.img"), 64 << 20, generator)
    subprocess.run(["mksquashfs", tree, os.path.join(folder, "tree.squashfs"), "-quiet",
                    "-no-progress", "-comp", "gzip", "-Xcompression-level", "1", "-all-root"],
                   check=True)
    for image in sys.argv[2:]:
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", folder,
                        image, SIZE], check=True)
        shutil.rmtree(folder)


main()
