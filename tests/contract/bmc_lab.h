/* Real BMC simulators on loopback (scripts/labs/bmclab), and the ipmi backend under the contract's
 * rules before them. They end with the test, however it ends.
 */
#ifndef PULT_TESTS_BMC_LAB_H
#define PULT_TESTS_BMC_LAB_H

#include "backends/ipmi/ipmi.h"
#include "tests/contract/backend_check.h"

typedef struct {
  char *name;   /* bmclab's; not up: NULL */
  char *net;    /* `127.0.15`: BMC 3 is at 127.0.15.3 */
  char *folder; /* holds `password` */
  guint port, n;
  Layout *layout; /* nodes a1 … aN */
  JobSet *jobs;
  BackendCheck *check;
  GString *seen; /* every observation and line: `a1 power on by bmc\n`, `a1 console TEXT\n` */
} BmcLab;

/* N at most 9, with serial lines. NULL: no simulator can run here; a line that says why was
 * printed. */
BmcLab *bmc_lab_new(guint n);
/* The same of BMCs that are somebody else's: NET is only written in the layout. */
BmcLab *bmc_lab_new_at(const char *net, guint n, const char *password_file);
void bmc_lab_free(BmcLab *lab);

/* A backend with SETTINGS (lines `    cipher: 17\n`) and, for nodes, OVERRIDES (lines
 * `      a1: {user: x}\n`); NULL nothing. Takes the place of the one before. */
void bmc_lab_open(BmcLab *lab, const char *settings, const char *overrides);
/* The same before whole BMCs, whose machines are all on, or off. */
void bmc_lab_begin(BmcLab *lab, const char *settings, const char *overrides, gboolean on);
/* What bmc_lab_open() fails with. */
char *bmc_lab_open_error(BmcLab *lab, const char *settings, const char *overrides);

/* `bmclab VERB SET WORDS…`, of this lab; what it prints. Words end with NULL. */
char *bmc_lab_tell(const BmcLab *lab, const char *verb, const char *set,
                   ...) G_GNUC_NULL_TERMINATED;
/* How often WHAT (`set power 1`) was carried out by BMC number N so far. */
guint bmc_lab_count(const BmcLab *lab, guint n, const char *what);

/* `a1`, `a[1-3]`, or `all`: asks and waits for all results; the request. */
guint32 bmc_lab_do(BmcLab *lab, Operation operation, const char *set, gint64 deadline,
                   const char *const *arguments);
guint32 bmc_lab_ask(BmcLab *lab, Operation operation, const char *set, gint64 deadline,
                    const char *const *arguments);
#define BMC_WITH(...) ((const char *const[]){__VA_ARGS__, NULL})
/* NODE's result of REQUEST is VERDICT, and its text has WORDS in it; WORDS NULL: any. */
void bmc_lab_expect(const BmcLab *lab, guint32 request, const char *node, Verdict verdict,
                    const char *words);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BmcLab, bmc_lab_free)

#endif
