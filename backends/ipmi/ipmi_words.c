#include "backends/ipmi/ipmi_private.h"

#include <stdarg.h>

char *
ipmi_say(const IpmiBmc *bmc, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return g_strdup_printf("its BMC (%s) %s", bmc->address, what);
}

static const char *
level_name(const IpmiBmc *bmc)
{
  return bmc->account.privilege == IPMI_PRIVILEGE_LEVEL_ADMIN      ? "admin"
         : bmc->account.privilege == IPMI_PRIVILEGE_LEVEL_OPERATOR ? "operator"
                                                                   : "user";
}

static char *
say_level(const IpmiBmc *bmc)
{
  return ipmi_say(bmc,
                  "gives user `%s` no privilege level `%s`; set a lower `privilege`, or raise the "
                  "user's on the BMC",
                  bmc->account.user, level_name(bmc));
}

static char *
say_refusal(const IpmiBmc *bmc, guint code)
{
  guint suite = bmc->suites[bmc->suite];

  switch (code) {
  case RMCPPLUS_STATUS_INSUFFICIENT_RESOURCES_TO_CREATE_A_SESSION:
  case RMCPPLUS_STATUS_INSUFFICIENT_RESOURCES_TO_CREATE_A_SESSION_AT_THE_REQUESTED_TIME:
    return ipmi_say(bmc, "has no session left; close others, or wait until they time out");
  case RMCPPLUS_STATUS_INVALID_ROLE:
  case RMCPPLUS_STATUS_UNAUTHORIZED_ROLE_OR_PRIVILEGE_LEVEL_REQUESTED:
    return say_level(bmc);
  case RMCPPLUS_STATUS_INVALID_NAME_LENGTH:
  case RMCPPLUS_STATUS_UNAUTHORIZED_NAME:
    return ipmi_say(bmc, "knows no user `%s`; correct `user`, or add it on the BMC",
                    bmc->account.user);
  case RMCPPLUS_STATUS_INVALID_INTEGRITY_CHECK_VALUE:
    return ipmi_say(bmc, "refuses the password of user `%s`; correct `password`",
                    bmc->account.user);
  case RMCPPLUS_STATUS_INVALID_SESSION_ID:
  case RMCPPLUS_STATUS_INACTIVE_SESSION_ID:
    return ipmi_say(bmc, "dropped the session while it was set up; try again");
  }
  if (ipmi_is_about_suite(TROUBLE_REFUSED, code))
    return ipmi_say(bmc, "refuses cipher suite %u; set `cipher: %u`", suite, suite == 3 ? 17 : 3);
  return ipmi_say(bmc, "refuses a session (RMCP+ status 0x%02x); its own log may say why", code);
}

gboolean
ipmi_is_about_suite(IpmiTrouble trouble, guint code)
{
  if (trouble != TROUBLE_REFUSED)
    return FALSE;
  switch (code) {
  case RMCPPLUS_STATUS_INVALID_AUTHENTICATION_ALGORITHM:
  case RMCPPLUS_STATUS_INVALID_INTEGRITY_ALGORITHM:
  case RMCPPLUS_STATUS_NO_MATCHING_AUTHENTICATION_PAYLOAD:
  case RMCPPLUS_STATUS_NO_MATCHING_INTEGRITY_PAYLOAD:
  case RMCPPLUS_STATUS_INVALID_CONFIDENTIALITY_ALGORITHM:
  case RMCPPLUS_STATUS_NO_CIPHER_SUITE_MATCH_WITH_PROPOSED_SECURITY_ALGORITHMS:
    return TRUE;
  default:
    return FALSE;
  }
}

char *
ipmi_say_trouble(const IpmiBmc *bmc, IpmiTrouble trouble, guint code)
{
  switch (trouble) {
  case TROUBLE_SILENT:
    return ipmi_say(bmc, "does not answer; is it on the network, and IPMI over LAN enabled on it?");
  case TROUBLE_LOST:
    return ipmi_say(bmc,
                    "stopped answering; if it has hung, a cold reset of the BMC helps; else look "
                    "at its power and network");
  case TROUBLE_NOBODY:
    return ipmi_say(bmc, "is there, but nothing answers IPMI on it; enable IPMI over LAN");
  case TROUBLE_NETWORK:
    return ipmi_say(bmc, "cannot be reached from here: %s", g_strerror((int)code));
  case TROUBLE_REFUSED:
    return say_refusal(bmc, code);
  case TROUBLE_PASSWORD:
    return ipmi_say(bmc,
                    "has another password for user `%s`; correct `password` (if it is right, "
                    "`workaround: [opensesspriv]` helps some BMCs)",
                    bmc->account.user);
  case TROUBLE_KG:
    return ipmi_say(bmc, "has another K_g; correct `kg`, or leave it out where the BMC has none");
  case TROUBLE_LEVEL:
    return say_level(bmc);
  case TROUBLE_NONE:
    break;
  }
  g_assert_not_reached();
}

char *
ipmi_say_unresolved(const IpmiBmc *bmc, const GError *error)
{
  return g_strdup_printf("there is no BMC at %s (%s); correct `address`", bmc->address,
                         error != NULL ? error->message : "no address");
}

Verdict
ipmi_trouble_verdict(IpmiTrouble trouble)
{
  return trouble == TROUBLE_SILENT || trouble == TROUBLE_LOST ? VERDICT_TIMEOUT : VERDICT_FAILED;
}

char *
ipmi_say_code(const IpmiBmc *bmc, const char *what, guint8 code)
{
  switch (code) {
  case IPMI_COMP_CODE_INSUFFICIENT_PRIVILEGE_LEVEL:
    return ipmi_say(bmc, "wants a higher privilege level than `%s` for %s; set `privilege: %s`",
                    level_name(bmc), what,
                    bmc->account.privilege < IPMI_PRIVILEGE_LEVEL_OPERATOR ? "operator" : "admin");
  case IPMI_COMP_CODE_NODE_BUSY:
    return ipmi_say(bmc, "was too busy for %s; try again", what);
  case IPMI_COMP_CODE_INVALID_COMMAND:
  case IPMI_COMP_CODE_COMMAND_INVALID_FOR_LUN:
  case IPMI_COMP_CODE_PARAMETER_OUT_OF_RANGE:
  case IPMI_COMP_CODE_INVALID_DATA_FIELD_IN_REQUEST:
    return ipmi_say(bmc, "does not support %s (0x%02x); reach this machine's power otherwise", what,
                    code);
  case IPMI_COMP_CODE_REQUEST_PARAMETER_NOT_SUPPORTED:
    return ipmi_say(bmc, "cannot do %s as the machine is now (0x%02x)", what, code);
  case IPMI_COMP_CODE_COMMAND_TIMEOUT:
    return ipmi_say(bmc, "got no answer from its machine to %s (0x%02x)", what, code);
  default:
    return ipmi_say(bmc, "failed at %s (0x%02x); look at the machine and the BMC's log", what,
                    code);
  }
}
