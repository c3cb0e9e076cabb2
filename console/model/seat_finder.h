/* Which node of a layout an address in a log line means.
 *
 * Addresses of the layout are known from the start; others are learnt from lines that name two at
 * once, as a lease names a MAC and an IP address, and what was learnt last outranks the layout. A
 * MAC address is taken as programs write it: with `:`, `-`, `.` or nothing between, behind the `01`
 * of a client identifier, at the end of a DUID, or inside an IPv6 address that was made of it.
 */
#ifndef PULT_MODEL_SEAT_FINDER_H
#define PULT_MODEL_SEAT_FINDER_H

#include "model/layout.h"

#define SEAT_FINDER_MAX_LEARNT 65536

typedef struct SeatFinder SeatFinder;

/* LAYOUT is borrowed. */
SeatFinder *seat_finder_new(const Layout *layout);
void seat_finder_free(SeatFinder *finder);

/* Any may be NULL. A line is about the node its MAC address names, else its IP address, else its
 * name; NODE_NONE when the layout has none such. The IP address is learnt when the line has more
 * than that to go by. */
NodeId seat_finder_find(SeatFinder *finder, const char *mac, const char *ip, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeatFinder, seat_finder_free)

#endif
