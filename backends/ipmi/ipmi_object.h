/* What ipmi_packet.c and ipmi_packet_read.c share. */
#ifndef PULT_IPMI_OBJECT_H
#define PULT_IPMI_OBJECT_H

#include "backends/ipmi/ipmi_packet.h"

#define WORKAROUND(name) IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_##name

/* libfreeipmi's own name for it is no pointer to C's eyes. */
typedef struct fiid_obj *Object;

static inline void
object_clear(Object *object)
{
  if (*object != NULL)
    fiid_obj_destroy(*object);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Object, object_clear)

static inline gboolean
ipmi_works_around(const IpmiKeys *keys, guint flags)
{
  return (keys->account->workarounds & flags) != 0;
}

/* libfreeipmi takes NULL for nothing. */
static inline const char *
ipmi_or_null(const char *text, guint length)
{
  return length > 0 ? text : NULL;
}

/* What the user is called in hashes: some of Intel's pad the name. Its length. */
guint ipmi_user_name(const IpmiKeys *keys, char name[IPMI_MAX_USER_NAME_LENGTH + 1]);
/* Some of Intel's know but 16 bytes of it with MD5. */
guint ipmi_password_length(const IpmiKeys *keys);
/* From both sides' random numbers. */
gboolean ipmi_calculate_keys(IpmiKeys *keys);

#endif
