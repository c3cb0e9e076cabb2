#include "backends/ipmi/ipmi_object.h"

#include <string.h>

/* The parts a packet falls into. */
typedef struct {
  Object rmcp, header, payload, message, command, message_end, trailer;
} Parts;

static void
parts_clear(Parts *parts)
{
  object_clear(&parts->rmcp);
  object_clear(&parts->header);
  object_clear(&parts->payload);
  object_clear(&parts->message);
  object_clear(&parts->command);
  object_clear(&parts->message_end);
  object_clear(&parts->trailer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parts, parts_clear)

static gboolean
parts_init(Parts *parts, fiid_field_t *command)
{
  parts->rmcp = fiid_obj_create(tmpl_rmcp_hdr);
  parts->header = fiid_obj_create(tmpl_rmcpplus_session_hdr);
  parts->payload = fiid_obj_create(tmpl_rmcpplus_payload);
  parts->message = fiid_obj_create(tmpl_lan_msg_hdr_rs);
  parts->command = fiid_obj_create(command);
  parts->message_end = fiid_obj_create(tmpl_lan_msg_trlr);
  parts->trailer = fiid_obj_create(tmpl_rmcpplus_session_trlr);
  return parts->rmcp != NULL && parts->header != NULL && parts->payload != NULL &&
         parts->message != NULL && parts->command != NULL && parts->message_end != NULL &&
         parts->trailer != NULL;
}

/* FALSE when the packet was too short to have FIELD. */
static gboolean
get(Object object, const char *field, guint64 *value)
{
  uint64_t found = 0;
  gboolean good = fiid_obj_get(object, field, &found) == 1;

  *value = found;
  return good;
}

static gboolean
get_bytes(Object object, const char *field, guchar *bytes, gsize n)
{
  return fiid_obj_get_data(object, field, bytes, (guint)n) == (int)n;
}

static gboolean
is_among(guint64 set, guint64 tag)
{
  return tag < IPMI_TAGS && (set >> tag & 1) != 0;
}

/* ---- While a session is set up ------------------------------------------------------------- */

/* Is PACKET of this payload, does it bear one of TAGS, is it for this session? */
static PacketKind
read_setup(Parts *parts, const IpmiKeys *keys, guint8 payload, fiid_field_t *command, guint64 tags,
           const guchar *packet, gsize n, guint8 *code)
{
  guint64 tag, status, id;
  guint8 type;

  if (ipmi_rmcpplus_calculate_payload_type(packet, (guint)n, &type) < 0 || type != payload ||
      !parts_init(parts, command) ||
      unassemble_ipmi_rmcpplus_pkt(
          IPMI_AUTHENTICATION_ALGORITHM_RAKP_NONE, IPMI_INTEGRITY_ALGORITHM_NONE,
          IPMI_CONFIDENTIALITY_ALGORITHM_NONE, NULL, 0, NULL, 0, packet, (guint)n, parts->rmcp,
          parts->header, parts->payload, parts->message, parts->command, parts->message_end,
          parts->trailer, IPMI_INTERFACE_FLAGS_DEFAULT) != 1)
    return PACKET_OTHER;
  if (!get(parts->command, "message_tag", &tag) || !is_among(tags, tag) ||
      !get(parts->command, "rmcpplus_status_code", &status))
    return PACKET_OTHER;
  *code = (guint8)status;
  gboolean is_ours =
      get(parts->command, "remote_console_session_id", &id) && id == keys->console_id;
  if (status != RMCPPLUS_STATUS_NO_ERRORS)
    return is_ours ? PACKET_REFUSED : PACKET_PERHAPS;
  return is_ours ? PACKET_ANSWER : PACKET_OTHER;
}

PacketKind
ipmi_read_open(IpmiKeys *keys, guint64 tags, const guchar *packet, gsize n, guint8 *code)
{
  g_auto(Parts) parts = {0};
  guint64 id, authentication, integrity, confidentiality;

  PacketKind kind = read_setup(&parts, keys, IPMI_PAYLOAD_TYPE_RMCPPLUS_OPEN_SESSION_RESPONSE,
                               tmpl_rmcpplus_open_session_response, tags, packet, n, code);
  if (kind != PACKET_ANSWER)
    return kind;
  if (!get(parts.command, "managed_system_session_id", &id) || id == 0 ||
      !get(parts.command, "authentication_payload.authentication_algorithm", &authentication) ||
      !get(parts.command, "integrity_payload.integrity_algorithm", &integrity) ||
      !get(parts.command, "confidentiality_payload.confidentiality_algorithm", &confidentiality))
    return PACKET_OTHER;
  /* Another suite than was asked for is a refusal, and nothing to be talked into. */
  if (authentication != keys->authentication || integrity != keys->integrity ||
      confidentiality != keys->confidentiality) {
    *code = RMCPPLUS_STATUS_NO_CIPHER_SUITE_MATCH_WITH_PROPOSED_SECURITY_ALGORITHMS;
    return PACKET_REFUSED;
  }
  keys->bmc_id = (guint32)id;
  return PACKET_ANSWER;
}

/* Bytes of a RAKP 2 hash, -1 for none. */
static int
hash_length(guint8 authentication)
{
  switch (authentication) {
  case IPMI_AUTHENTICATION_ALGORITHM_RAKP_HMAC_SHA1:
    return IPMI_HMAC_SHA1_DIGEST_LENGTH;
  case IPMI_AUTHENTICATION_ALGORITHM_RAKP_HMAC_MD5:
    return IPMI_HMAC_MD5_DIGEST_LENGTH;
  case IPMI_AUTHENTICATION_ALGORITHM_RAKP_HMAC_SHA256:
    return IPMI_HMAC_SHA256_DIGEST_LENGTH;
  default:
    return 0;
  }
}

/* Some of Supermicro's and Sun's send a byte too many. */
static void
mend_hash(const IpmiKeys *keys, Object command)
{
  guchar hash[IPMI_KEY_MAX];
  const char *field = "key_exchange_authentication_code";
  int wanted = hash_length(keys->authentication);

  if (!ipmi_works_around(keys, WORKAROUND(SUPERMICRO_2_0_SESSION) | WORKAROUND(SUN_2_0_SESSION)) ||
      fiid_obj_get_data(command, field, hash, sizeof hash) != wanted + 1)
    return;
  fiid_obj_clear_field(command, field);
  if (wanted > 0)
    fiid_obj_set_data(command, field, hash, (guint)wanted);
}

PacketKind
ipmi_read_rakp2(IpmiKeys *keys, guint64 tags, const guchar *packet, gsize n, guint8 *code)
{
  g_auto(Parts) parts = {0};
  const IpmiAccount *account = keys->account;
  char name[IPMI_MAX_USER_NAME_LENGTH + 1];
  guint name_length = ipmi_user_name(keys, name), length = ipmi_password_length(keys);

  PacketKind kind = read_setup(&parts, keys, IPMI_PAYLOAD_TYPE_RAKP_MESSAGE_2,
                               tmpl_rmcpplus_rakp_message_2, tags, packet, n, code);
  if (kind != PACKET_ANSWER)
    return kind;
  if (!get_bytes(parts.command, "managed_system_random_number", keys->bmc_random,
                 sizeof keys->bmc_random) ||
      !get_bytes(parts.command, "managed_system_guid", keys->bmc_guid, sizeof keys->bmc_guid))
    return PACKET_OTHER;
  mend_hash(keys, parts.command);
  int good = ipmi_rmcpplus_check_rakp_2_key_exchange_authentication_code(
      keys->authentication, ipmi_or_null(account->password, length), length, keys->console_id,
      keys->bmc_id, keys->console_random, sizeof keys->console_random, keys->bmc_random,
      sizeof keys->bmc_random, keys->bmc_guid, sizeof keys->bmc_guid, IPMI_NAME_ONLY_LOOKUP,
      account->privilege, ipmi_or_null(name, name_length), name_length, parts.command);
  if (good != 1)
    return PACKET_BAD_PASSWORD;
  return ipmi_calculate_keys(keys) ? PACKET_ANSWER : PACKET_OTHER;
}

/* With these the check proves nothing, or is known to be wrong. */
static gboolean
skips_check(const IpmiKeys *keys)
{
  if (keys->authentication == IPMI_AUTHENTICATION_ALGORITHM_RAKP_NONE)
    return ipmi_works_around(keys, WORKAROUND(NON_EMPTY_INTEGRITY_CHECK_VALUE));
  return keys->integrity == IPMI_INTEGRITY_ALGORITHM_MD5_128 &&
         ipmi_works_around(keys, WORKAROUND(INTEL_2_0_SESSION));
}

PacketKind
ipmi_read_rakp4(IpmiKeys *keys, guint64 tags, const guchar *packet, gsize n, guint8 *code)
{
  g_auto(Parts) parts = {0};

  PacketKind kind = read_setup(&parts, keys, IPMI_PAYLOAD_TYPE_RAKP_MESSAGE_4,
                               tmpl_rmcpplus_rakp_message_4, tags, packet, n, code);
  if (kind != PACKET_ANSWER)
    return kind;
  if (skips_check(keys))
    return PACKET_ANSWER;
  int good = ipmi_rmcpplus_check_rakp_4_integrity_check_value(
      keys->authentication, keys->sik_length > 0 ? keys->sik : NULL, (guint)keys->sik_length,
      keys->console_random, sizeof keys->console_random, keys->bmc_id, keys->bmc_guid,
      sizeof keys->bmc_guid, parts.command);
  return good == 1 ? PACKET_ANSWER : PACKET_BAD_KG;
}

/* ---- Within a session ---------------------------------------------------------------------- */

static const struct {
  fiid_field_t *template;
  guint8 net_fn, command;
} replies[] = {
    [IPMI_PRIVILEGE] = {tmpl_cmd_set_session_privilege_level_rs, IPMI_NET_FN_APP_RS,
                        IPMI_CMD_SET_SESSION_PRIVILEGE_LEVEL},
    [IPMI_STATUS] = {tmpl_cmd_get_chassis_status_rs, IPMI_NET_FN_CHASSIS_RS,
                     IPMI_CMD_GET_CHASSIS_STATUS},
    [IPMI_CONTROL] = {tmpl_cmd_chassis_control_rs, IPMI_NET_FN_CHASSIS_RS,
                      IPMI_CMD_CHASSIS_CONTROL},
    [IPMI_SET_BOOT] = {tmpl_cmd_set_system_boot_options_rs, IPMI_NET_FN_CHASSIS_RS,
                       IPMI_CMD_SET_SYSTEM_BOOT_OPTIONS},
    [IPMI_GET_BOOT] = {tmpl_cmd_get_system_boot_options_boot_flags_rs, IPMI_NET_FN_CHASSIS_RS,
                       IPMI_CMD_GET_SYSTEM_BOOT_OPTIONS},
    [IPMI_CLOSE_SESSION] = {tmpl_cmd_close_session_rs, IPMI_NET_FN_APP_RS, IPMI_CMD_CLOSE_SESSION},
};

static gboolean
unassemble(Parts *parts, const IpmiKeys *keys, const guchar *packet, gsize n)
{
  gboolean authenticated = keys->integrity_length > 0, encrypted = keys->confidentiality_length > 0;

  return unassemble_ipmi_rmcpplus_pkt(
             keys->authentication, keys->integrity, keys->confidentiality,
             authenticated ? keys->integrity_key : NULL, (guint)keys->integrity_length,
             encrypted ? keys->confidentiality_key : NULL, (guint)keys->confidentiality_length,
             packet, (guint)n, parts->rmcp, parts->header, parts->payload, parts->message,
             parts->command, parts->message_end, parts->trailer, IPMI_INTERFACE_FLAGS_DEFAULT) == 1;
}

static gboolean
is_authentic(const Parts *parts, const IpmiKeys *keys, const guchar *packet, gsize n)
{
  guint length = ipmi_password_length(keys);
  guint64 flag;

  /* The library checks a code where the packet claims to have one. */
  if (!get(parts->header, "payload_type.authenticated", &flag) ||
      (gboolean)flag != (keys->integrity_length > 0) ||
      !get(parts->header, "payload_type.encrypted", &flag) ||
      (gboolean)flag != (keys->confidentiality_length > 0))
    return FALSE;
  return ipmi_rmcpplus_check_packet_session_authentication_code(
             keys->integrity, packet, (guint)n,
             keys->integrity_length > 0 ? keys->integrity_key : NULL, (guint)keys->integrity_length,
             ipmi_or_null(keys->account->password, length), length, parts->trailer) == 1;
}

static gboolean
has_checksums(const Parts *parts, const IpmiKeys *keys)
{
  return ipmi_works_around(keys, WORKAROUND(NO_CHECKSUM_CHECK)) ||
         ipmi_lan_check_checksum(parts->message, parts->command, parts->message_end) == 1;
}

/* Of this session, authentic, new, and the answer to one of SEQUENCES. */
static gboolean
is_reply(const Parts *parts, IpmiKeys *keys, const IpmiCommand *command, guint64 sequences,
         const guchar *packet, gsize n)
{
  guint64 id, session_sequence, net_fn, sequence, code;

  if (!get(parts->header, "session_id", &id) || id != keys->console_id ||
      !is_authentic(parts, keys, packet, n) || !has_checksums(parts, keys) ||
      !get(parts->header, "session_sequence_number", &session_sequence) ||
      !get(parts->message, "net_fn", &net_fn) || !get(parts->message, "rq_seq", &sequence) ||
      !get(parts->command, "cmd", &code))
    return FALSE;
  if (ipmi_check_session_sequence_number_2_0((guint32)session_sequence, &keys->highest, &keys->seen,
                                             0) != 1)
    return FALSE;
  return net_fn == replies[command->request].net_fn && code == replies[command->request].command &&
         is_among(sequences, sequence);
}

static gboolean
read_boot(Object object, IpmiReply *reply)
{
  guint64 parameter, valid, device, efi, persistent;

  if (!get(object, "parameter_selector", &parameter) ||
      parameter != IPMI_SYSTEM_BOOT_OPTION_PARAMETER_BOOT_FLAGS ||
      !get(object, "boot_flags_valid", &valid) || !get(object, "boot_device", &device) ||
      !get(object, "bios_boot_type", &efi) || !get(object, "boot_flags_persistent", &persistent))
    return FALSE;
  reply->valid = valid != 0;
  reply->device = (guint8)device;
  reply->efi = efi != 0;
  reply->persistent = persistent != 0;
  return TRUE;
}

PacketKind
ipmi_read_reply(IpmiKeys *keys, const IpmiCommand *command, guint64 sequences, const guchar *packet,
                gsize n, IpmiReply *reply)
{
  g_auto(Parts) parts = {0};
  guint64 code, on;
  guint8 type;

  if (ipmi_rmcpplus_calculate_payload_type(packet, (guint)n, &type) < 0 ||
      type != IPMI_PAYLOAD_TYPE_IPMI || !parts_init(&parts, replies[command->request].template) ||
      !unassemble(&parts, keys, packet, n) ||
      !is_reply(&parts, keys, command, sequences, packet, n) ||
      !get(parts.command, "comp_code", &code))
    return PACKET_OTHER;
  *reply = (IpmiReply){.code = (guint8)code};
  if (code != IPMI_COMP_CODE_COMMAND_SUCCESS)
    return PACKET_ANSWER;
  if (command->request == IPMI_STATUS) {
    if (!get(parts.command, "current_power_state.power_is_on", &on))
      return PACKET_OTHER;
    reply->on = on != 0;
  }
  if (command->request == IPMI_GET_BOOT && !read_boot(parts.command, reply))
    return PACKET_OTHER;
  return PACKET_ANSWER;
}
