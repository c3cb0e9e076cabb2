/* What ipmi*.c share. */
#ifndef PULT_IPMI_PRIVATE_H
#define PULT_IPMI_PRIVATE_H

#include "backends/ipmi/ipmi.h"
#include "backends/ipmi/ipmi_session.h"
#include "backends/ledger.h"

#define IPMI_SUITES_MAX 8
#define IPMI_PORT 623

typedef struct Ipmi Ipmi;
typedef struct IpmiJob IpmiJob;
typedef struct IpmiBmc IpmiBmc;
typedef struct IpmiConsole IpmiConsole;

/* One node of a request that has no result yet. */
typedef struct {
  LedgerItem *item;
  IpmiBmc *bmc;
  IpmiJob *job;  /* NULL: it waits for its turn */
  gboolean soft; /* OP_OFF */
  guint8 device; /* OP_BOOT_DEVICE: IPMI_SYSTEM_BOOT_OPTION_BOOT_FLAG_BOOT_DEVICE_… */
  gint64 end_us; /* when what is known is said; of the monotonic clock */
  GSource *timer;
} IpmiTarget;

struct IpmiBmc {
  Ipmi *ipmi;
  NodeId node;
  const char *name; /* the node's */
  char *address;    /* as the layout gives it */
  GSocketConnectable *place;
  IpmiAccount account;
  guint suites[IPMI_SUITES_MAX], n_suites;
  guint suite; /* which of them it takes, as far as is known */
  gint64 retransmit, patience;
  gboolean efi, persistent;
  gboolean heard; /* it has answered some time */
  gint64 seen_us; /* when its power was seen last; 0: never, or it was told something since */
  gboolean on;    /* then */
  GQueue waiting; /* of IpmiTarget, the one under way first */
  IpmiJob *job;   /* NULL: nothing is under way */
  gboolean ready; /* in Ipmi.ready */
  gboolean busy;  /* has one of the places */
};

/* ipmi_settings.c */
gboolean ipmi_bmc_init(IpmiBmc *bmc, const BackendSetup *setup, NodeId node, GError **error);
void ipmi_bmc_clear(IpmiBmc *bmc); /* wipes its secrets */

/* ipmi_words.c: `its BMC (10.9.0.5) …`, cause and remedy, to stand behind the node's name. Free
 * with g_free(). */
char *ipmi_say(const IpmiBmc *bmc, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Why there is no session, or no more. */
char *ipmi_say_trouble(const IpmiBmc *bmc, IpmiTrouble trouble, guint code);
char *ipmi_say_unresolved(const IpmiBmc *bmc, const GError *error);
/* Why it did not carry out WHAT (`reset`). */
char *ipmi_say_code(const IpmiBmc *bmc, const char *what, guint8 code);
/* It may take another cipher suite. */
gboolean ipmi_is_about_suite(IpmiTrouble trouble, guint code);
Verdict ipmi_trouble_verdict(IpmiTrouble trouble);

/* ipmi_job.c: an operation on its way. TARGET is borrowed until ipmi_job_wind_up(). */
IpmiJob *ipmi_job_new(IpmiTarget *target);
void ipmi_job_start(IpmiJob *job);
/* Its time is over: gives its target the result that is known now. */
void ipmi_job_expire(IpmiJob *job);
/* Its target has its result: closes the session, and then ipmi_over() comes. */
void ipmi_job_wind_up(IpmiJob *job);
void ipmi_job_free(IpmiJob *job);

/* ipmi_console.c: serial over LAN, beside a BMC's queue: lines and at last a result to ITEM. */
gboolean ipmi_console_engine_up(void); /* before any is opened; counted */
void ipmi_console_engine_down(void);   /* after all are freed; waits for the BMCs */
IpmiConsole *ipmi_console_open(LedgerItem *item, const IpmiBmc *bmc);
void ipmi_console_free(IpmiConsole *console);

/* ipmi.c, told by jobs */
void ipmi_seen(IpmiBmc *bmc, gboolean on); /* now */
/* A status ends so, and with it those that were asked at the same time. */
void ipmi_unseen(const IpmiTarget *target, Verdict verdict, const char *text);
void ipmi_slow(IpmiBmc *bmc);                              /* others may have its place */
void ipmi_over(IpmiBmc *bmc);                              /* frees the job */
const char *ipmi_operation_word(const IpmiTarget *target); /* `soft off` */

#endif
