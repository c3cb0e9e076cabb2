/* The simulated lab: power, boots, loads, counters and failures of a layout's machines by the
 * calibrated model, on virtual time and deterministic by seed.
 *
 * Its world: every client off, servers, switches and routers on, caches warm. Payload runs both
 * ways at once, every port and link carrying its rate each way. Machines carry data
 * as soon as they are on; what needs one that is off waits for it, as a hard mount does.
 *
 * Properties it can get and set:
 *   SERVER.nfsd · SERVER.transmit-ceiling and SERVER.disk-rate (rate or `none`) ·
 *   SERVER/BOND.policy · SERVER/BOND.era · SERVER/PORT.state up|down · CLIENT/eth0.state up|down ·
 *   CLIENT.mac · CLIENT.usage free|in use|unknown · link:A-B.state up|down
 * Nobody sits in it: a seat is free, on or off, until its usage is set.
 *
 * A load's arguments: job, label, cache=warm|cold, mount=EXPORT of its server (else that server's
 * own data, synchronous, and no time a request but the job's), version=3|4, and in place of the
 * job's own: rate=, bytes=, protocol=nfs|nbd|local.
 *
 * Cold: the data are read once from a disk for all seats of the request together, so of each seat's
 * bytes 1/n come from there; else they come from the memory of the server whose disk it is. A boot
 * always finds the cache warm. What is written goes to the disk; a request waits for it unless the
 * export is async. A gateway keeps nothing of what it passes on, but a job that runs on it finds
 * warm data in its memory.
 *
 * version=4 is an assumption, and said to be one with the figures: nobody measured NFSv4 for this
 * model, it is played exactly as version 3.
 *
 * Keys, by a video switch that shows one seat: F12 in the firmware boots from the network and has
 * the menu wait, whose first line is the default, the second the same by the other protocol (Down,
 * Up, Enter); Ctrl-Alt-Delete boots again. Any other is lost, and so is one pressed at another
 * time. Where the layout has the lab wake a machine and neither switch its power nor work on it,
 * nobody sees its power, nor its firmware.
 *
 * A boot from disk has the model's stages without DHCP, TFTP and reads. A client counts as one of
 * several that boot, and draws a start delay, when another boots as it comes to its menu, or was
 * switched on by the same request.
 */
#ifndef PULT_SIM_H
#define PULT_SIM_H

#include "backends/backend.h"
#include "model/job.h"
#include "model/layout.h"

/* How long what the model says nothing of takes: times of no consequence, but not zero. The rest
 * (status, get, set, signal, the start of a load) is answered at once. */
#define SIM_ON (50 * TIME_MS)
#define SIM_OFF (100 * TIME_MS)
#define SIM_SOFT_OFF (2 * TIME_SECOND)
#define SIM_RESET (50 * TIME_MS)
#define SIM_BOOT_DEVICE (50 * TIME_MS)
/* Its video switch goes from seat to seat, one command at a time. */
#define SIM_ROUTE (60 * TIME_MS)
#define SIM_KEY (40 * TIME_MS)
/* How long a boot menu that was called for waits for a key. */
#define SIM_MENU (15 * TIME_SECOND)

/* Samples are sent on multiples of the interval; when nothing moves, one a second. */
#define SIM_QUIET_INTERVAL TIME_SECOND

/* LAYOUT and JOBS are borrowed and must outlive it. */
Backend *sim_new(const char *name, const Layout *layout, const JobSet *jobs, guint64 seed,
                 BackendPost post, gpointer post_data);

#endif
