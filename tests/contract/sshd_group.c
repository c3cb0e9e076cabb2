#ifdef HAVE_SSH

#include "tests/contract/sshd_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

SshdLab *lab;

int
sshd_group_set_up(void **state)
{
  (void)state;
  lab = sshd_lab_new(2);
  return 0;
}

int
sshd_group_tear_down(void **state)
{
  (void)state;
  sshd_lab_free(lab);
  return 0;
}

void
sshd_group_need_lab(void)
{
  if (lab == NULL)
    skip();
}

void
sshd_group_check_text(guint32 request, const char *node, const char *part)
{
  const char *text = sshd_lab_text(lab, request, node);
  if (strstr(text, part) == NULL)
    fail_msg("`%s` is not in `%s`", part, text);
}

#endif
