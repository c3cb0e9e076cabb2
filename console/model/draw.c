#include "model/draw.h"

#define FNV_OFFSET G_GUINT64_CONSTANT(0xcbf29ce484222325)
#define FNV_PRIME G_GUINT64_CONSTANT(0x100000001b3)

static guint64
hash_number(guint64 hash, guint64 number)
{
  for (int i = 0; i < 8; i++) /* little-endian on every machine */
    hash = (hash ^ ((number >> (8 * i)) & 0xff)) * FNV_PRIME;
  return hash;
}

/* The terminating NUL is hashed too, or ("ab", "c") and ("a", "bc") would be one key. */
static guint64
hash_string(guint64 hash, const char *string)
{
  const guint8 *byte = (const guint8 *)string;
  do
    hash = (hash ^ *byte) * FNV_PRIME;
  while (*byte++ != 0);
  return hash;
}

/* FNV-1a alone leaves neighbouring keys with neighbouring high bits. */
static guint64
finalise(guint64 z)
{
  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

double
draw_uniform(guint64 seed, const char *purpose, const char *node, guint64 n)
{
  guint64 hash = hash_number(FNV_OFFSET, seed);
  hash = hash_string(hash, purpose);
  hash = hash_string(hash, node);
  hash = hash_number(hash, n);
  return (double)(finalise(hash) >> 11) * 0x1p-53;
}
