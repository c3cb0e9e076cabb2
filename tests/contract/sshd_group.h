/* Two sshds that a group of cmocka tests shares: `lab`, NULL where none can run. */
#ifndef PULT_TESTS_SSHD_GROUP_H
#define PULT_TESTS_SSHD_GROUP_H

#include "tests/contract/sshd_lab.h"

extern SshdLab *lab;

int sshd_group_set_up(void **state);
int sshd_group_tear_down(void **state);
/* Skips the test where there is no lab. */
void sshd_group_need_lab(void);
/* PART is in what NODE's result of REQUEST says. */
void sshd_group_check_text(guint32 request, const char *node, const char *part);

#endif
