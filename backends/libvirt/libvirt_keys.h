/* Keys as Linux numbers them, which libvirt takes for every hypervisor. */
#ifndef PULT_LIBVIRT_KEYS_H
#define PULT_LIBVIRT_KEYS_H

#include <glib.h>

/* Keys held at once, as many as libvirt takes. */
#define LIBVIRT_KEYS_HELD 16

/* COMBINATION as model/keyboard.h writes it, `Ctrl-Alt-Delete`; how many CODES it comes to. 0: it
 * is none, or holds too many. */
guint libvirt_keys_read(const char *combination, guint codes[LIBVIRT_KEYS_HELD]);

#endif
