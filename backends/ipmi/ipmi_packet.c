#include "backends/ipmi/ipmi_object.h"

#include <string.h>
#include <sys/random.h>

gboolean
ipmi_packet_init(void)
{
  return ipmi_rmcpplus_init() == 0;
}

gboolean
ipmi_suite_known(guint suite)
{
  return IPMI_CIPHER_SUITE_ID_SUPPORTED(suite);
}

/* ---- Keys ---------------------------------------------------------------------------------- */

static void
draw(gpointer bytes, gsize n)
{
  /* At most 256 bytes never come short. */
  if (getrandom(bytes, n, 0) != (gssize)n)
    g_error("getrandom failed");
}

void
ipmi_keys_init(IpmiKeys *keys, const IpmiAccount *account, guint suite)
{
  *keys = (IpmiKeys){.account = account, .sequence = 1};
  draw(&keys->console_id, sizeof keys->console_id);
  keys->console_id |= 1; /* 0 is no session */
  draw(keys->console_random, sizeof keys->console_random);
  ipmi_cipher_suite_id_to_algorithms((guint8)suite, &keys->authentication, &keys->integrity,
                                     &keys->confidentiality);
  ipmi_check_session_sequence_number_2_0_init(&keys->highest, &keys->seen);
}

void
ipmi_keys_clear(IpmiKeys *keys)
{
  explicit_bzero(keys, sizeof *keys);
}

guint
ipmi_user_name(const IpmiKeys *keys, char name[IPMI_MAX_USER_NAME_LENGTH + 1])
{
  memset(name, 0, IPMI_MAX_USER_NAME_LENGTH + 1);
  g_strlcpy(name, keys->account->user, IPMI_MAX_USER_NAME_LENGTH + 1);
  if (ipmi_works_around(keys, WORKAROUND(INTEL_2_0_SESSION)))
    return IPMI_MAX_USER_NAME_LENGTH;
  return (guint)strlen(name);
}

guint
ipmi_password_length(const IpmiKeys *keys)
{
  guint length = (guint)strlen(keys->account->password);

  if (ipmi_works_around(keys, WORKAROUND(INTEL_2_0_SESSION)) &&
      keys->authentication == IPMI_AUTHENTICATION_ALGORITHM_RAKP_HMAC_MD5)
    length = MIN(length, 16);
  return length;
}

gboolean
ipmi_calculate_keys(IpmiKeys *keys)
{
  char name[IPMI_MAX_USER_NAME_LENGTH + 1];
  guint name_length = ipmi_user_name(keys, name), length = ipmi_password_length(keys);
  const IpmiAccount *account = keys->account;
  void *sik = keys->sik, *integrity = keys->integrity_key,
       *confidentiality = keys->confidentiality_key;
  guint sik_length = sizeof keys->sik, integrity_length = sizeof keys->integrity_key,
        confidentiality_length = sizeof keys->confidentiality_key;

  if (ipmi_calculate_rmcpplus_session_keys(
          keys->authentication, keys->integrity, keys->confidentiality,
          ipmi_or_null(account->password, length), length, account->has_kg ? account->kg : NULL,
          account->has_kg ? sizeof account->kg : 0, keys->console_random,
          sizeof keys->console_random, keys->bmc_random, sizeof keys->bmc_random,
          IPMI_NAME_ONLY_LOOKUP, account->privilege, ipmi_or_null(name, name_length), name_length,
          &sik, &sik_length, &integrity, &integrity_length, &confidentiality,
          &confidentiality_length) < 0)
    return FALSE;
  /* Without an algorithm there is no key, and the pointer is NULL. */
  keys->sik_length = sik != NULL ? sik_length : 0;
  keys->integrity_length = integrity != NULL ? integrity_length : 0;
  keys->confidentiality_length = confidentiality != NULL ? confidentiality_length : 0;
  return TRUE;
}

/* ---- Making -------------------------------------------------------------------------------- */

typedef struct {
  guint8 payload;
  gboolean secured; /* by the session's keys */
  guint32 session, sequence;
  guint8 net_fn, request; /* of a command: the request's sequence number */
} Envelope;

static gsize
assemble(const IpmiKeys *keys, const Envelope *envelope, Object command, guchar *packet)
{
  g_auto(Object) rmcp = fiid_obj_create(tmpl_rmcp_hdr);
  g_auto(Object) header = fiid_obj_create(tmpl_rmcpplus_session_hdr);
  g_auto(Object) message = fiid_obj_create(tmpl_lan_msg_hdr_rq);
  g_auto(Object) trailer = fiid_obj_create(tmpl_rmcpplus_session_trlr);
  gboolean authenticated = envelope->secured && keys->integrity != IPMI_INTEGRITY_ALGORITHM_NONE;
  gboolean encrypted =
      envelope->secured && keys->confidentiality != IPMI_CONFIDENTIALITY_ALGORITHM_NONE;
  guint length = ipmi_password_length(keys);

  if (rmcp == NULL || header == NULL || message == NULL || trailer == NULL ||
      fill_rmcp_hdr_ipmi(rmcp) < 0 ||
      fill_rmcpplus_session_hdr(envelope->payload, authenticated, encrypted, 0, 0,
                                envelope->session, envelope->sequence, header) < 0 ||
      fill_lan_msg_hdr(IPMI_SLAVE_ADDRESS_BMC, envelope->net_fn, IPMI_BMC_IPMB_LUN_BMC,
                       envelope->request, message) < 0 ||
      fill_rmcpplus_session_trlr(trailer) < 0)
    return 0;
  int n = assemble_ipmi_rmcpplus_pkt(
      envelope->secured ? keys->authentication : IPMI_AUTHENTICATION_ALGORITHM_RAKP_NONE,
      envelope->secured ? keys->integrity : IPMI_INTEGRITY_ALGORITHM_NONE,
      envelope->secured ? keys->confidentiality : IPMI_CONFIDENTIALITY_ALGORITHM_NONE,
      authenticated ? keys->integrity_key : NULL, authenticated ? (guint)keys->integrity_length : 0,
      encrypted ? keys->confidentiality_key : NULL,
      encrypted ? (guint)keys->confidentiality_length : 0,
      authenticated ? ipmi_or_null(keys->account->password, length) : NULL,
      authenticated ? length : 0, rmcp, header, message, command, trailer, packet, IPMI_PACKET_MAX,
      IPMI_INTERFACE_FLAGS_DEFAULT);
  return n > 0 ? (gsize)n : 0;
}

static gsize
assemble_setup(const IpmiKeys *keys, guint8 payload, Object command, guchar *packet)
{
  Envelope envelope = {.payload = payload, .net_fn = IPMI_NET_FN_APP_RQ};

  return assemble(keys, &envelope, command, packet);
}

gsize
ipmi_make_open(const IpmiKeys *keys, guint8 tag, guchar *packet)
{
  g_auto(Object) command = fiid_obj_create(tmpl_rmcpplus_open_session_request);
  /* Some hash the level asked for here instead of the one asked for later. */
  gboolean says_level =
      ipmi_works_around(keys, WORKAROUND(OPEN_SESSION_PRIVILEGE) | WORKAROUND(SUN_2_0_SESSION));
  guint8 level = says_level ? keys->account->privilege : IPMI_PRIVILEGE_LEVEL_HIGHEST_LEVEL;

  if (command == NULL ||
      fill_rmcpplus_open_session(tag, level, keys->console_id, keys->authentication,
                                 keys->integrity, keys->confidentiality, command) < 0)
    return 0;
  return assemble_setup(keys, IPMI_PAYLOAD_TYPE_RMCPPLUS_OPEN_SESSION_REQUEST, command, packet);
}

gsize
ipmi_make_rakp1(const IpmiKeys *keys, guint8 tag, guchar *packet)
{
  g_auto(Object) command = fiid_obj_create(tmpl_rmcpplus_rakp_message_1);
  char name[IPMI_MAX_USER_NAME_LENGTH + 1];
  guint length = ipmi_user_name(keys, name);

  if (command == NULL || fill_rmcpplus_rakp_message_1(
                             tag, keys->bmc_id, keys->console_random, sizeof keys->console_random,
                             keys->account->privilege, IPMI_NAME_ONLY_LOOKUP,
                             ipmi_or_null(name, length), length, command) < 0)
    return 0;
  return assemble_setup(keys, IPMI_PAYLOAD_TYPE_RAKP_MESSAGE_1, command, packet);
}

gsize
ipmi_make_rakp3(const IpmiKeys *keys, guint8 tag, guchar *packet)
{
  g_auto(Object) command = fiid_obj_create(tmpl_rmcpplus_rakp_message_3);
  const IpmiAccount *account = keys->account;
  guchar code[IPMI_KEY_MAX];
  guint length = ipmi_password_length(keys), name_length = (guint)strlen(account->user);
  guint8 lookup = ipmi_works_around(keys, WORKAROUND(INTEL_2_0_SESSION))
                      ? IPMI_USER_NAME_PRIVILEGE_LOOKUP
                      : IPMI_NAME_ONLY_LOOKUP;
  int n = ipmi_calculate_rakp_3_key_exchange_authentication_code(
      keys->authentication, ipmi_or_null(account->password, length), length, keys->bmc_random,
      sizeof keys->bmc_random, keys->console_id, lookup, account->privilege,
      ipmi_or_null(account->user, name_length), name_length, code, sizeof code);

  if (command == NULL || n < 0 ||
      fill_rmcpplus_rakp_message_3(tag, RMCPPLUS_STATUS_NO_ERRORS, keys->bmc_id,
                                   n > 0 ? code : NULL, (guint)n, command) < 0)
    return 0;
  return assemble_setup(keys, IPMI_PAYLOAD_TYPE_RAKP_MESSAGE_3, command, packet);
}

static int
fill_boot(const IpmiCommand *command, Object object)
{
  return fill_cmd_set_system_boot_options_boot_flags(
      IPMI_SYSTEM_BOOT_OPTIONS_PARAMETER_VALID_UNLOCKED, command->efi, command->persistent,
      IPMI_SYSTEM_BOOT_OPTION_BOOT_FLAG_VALID, 0, 0, command->argument, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, object);
}

static Object
make_request(const IpmiKeys *keys, const IpmiCommand *command)
{
  fiid_field_t *const templates[] = {
      [IPMI_PRIVILEGE] = tmpl_cmd_set_session_privilege_level_rq,
      [IPMI_STATUS] = tmpl_cmd_get_chassis_status_rq,
      [IPMI_CONTROL] = tmpl_cmd_chassis_control_rq,
      [IPMI_SET_BOOT] = tmpl_cmd_set_system_boot_options_boot_flags_rq,
      [IPMI_GET_BOOT] = tmpl_cmd_get_system_boot_options_rq,
      [IPMI_CLOSE_SESSION] = tmpl_cmd_close_session_rq,
  };
  g_auto(Object) object = fiid_obj_create(templates[command->request]);
  int filled = -1;

  if (object == NULL)
    return NULL;
  switch (command->request) {
  case IPMI_PRIVILEGE:
    filled = fill_cmd_set_session_privilege_level(command->argument, object);
    break;
  case IPMI_STATUS:
    filled = fill_cmd_get_chassis_status(object);
    break;
  case IPMI_CONTROL:
    filled = fill_cmd_chassis_control(command->argument, object);
    break;
  case IPMI_SET_BOOT:
    filled = fill_boot(command, object);
    break;
  case IPMI_GET_BOOT:
    filled = fill_cmd_get_system_boot_options(IPMI_SYSTEM_BOOT_OPTION_PARAMETER_BOOT_FLAGS, 0, 0,
                                              object);
    break;
  case IPMI_CLOSE_SESSION:
    filled = fill_cmd_close_session(keys->bmc_id, NULL, object);
    break;
  }
  return filled < 0 ? NULL : g_steal_pointer(&object);
}

/* Requests about the session go to the application, those about the machine to the chassis. */
static gboolean
is_of_chassis(const IpmiCommand *command)
{
  return command->request != IPMI_PRIVILEGE && command->request != IPMI_CLOSE_SESSION;
}

gsize
ipmi_make_command(IpmiKeys *keys, const IpmiCommand *command, guint8 sequence, guchar *packet)
{
  g_auto(Object) request = make_request(keys, command);
  Envelope envelope = {.payload = IPMI_PAYLOAD_TYPE_IPMI,
                       .secured = TRUE,
                       .session = keys->bmc_id,
                       .sequence = keys->sequence,
                       .net_fn =
                           is_of_chassis(command) ? IPMI_NET_FN_CHASSIS_RQ : IPMI_NET_FN_APP_RQ,
                       .request = sequence};
  gsize n = request != NULL ? assemble(keys, &envelope, request, packet) : 0;

  if (++keys->sequence == 0)
    keys->sequence = 1;
  return n;
}
