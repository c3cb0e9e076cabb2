#include "backends/ipmi/ipmi_private.h"

#include <ipmiconsole.h>
#include <string.h>

#include "model/units.h"

static const struct {
  const char *name; /* as FreeIPMI's tools call it */
  guint flag;       /* libfreeipmi's and libipmiconsole's are the same where both have one */
} workarounds[] = {
    {"authcap", IPMICONSOLE_WORKAROUND_AUTHENTICATION_CAPABILITIES},
    {"intel20", IPMICONSOLE_WORKAROUND_INTEL_2_0_SESSION},
    {"supermicro20", IPMICONSOLE_WORKAROUND_SUPERMICRO_2_0_SESSION},
    {"sun20", IPMICONSOLE_WORKAROUND_SUN_2_0_SESSION},
    {"opensesspriv", IPMICONSOLE_WORKAROUND_OPEN_SESSION_PRIVILEGE},
    {"integritycheckvalue", IPMICONSOLE_WORKAROUND_NON_EMPTY_INTEGRITY_CHECK_VALUE},
    {"nochecksumcheck", IPMICONSOLE_WORKAROUND_NO_CHECKSUM_CHECK},
    {"serialalertsdeferred", IPMICONSOLE_WORKAROUND_SERIAL_ALERTS_DEFERRED},
    {"solpacketseq", IPMICONSOLE_WORKAROUND_INCREMENT_SOL_PACKET_SEQUENCE},
    {"solpayloadsize", IPMICONSOLE_WORKAROUND_IGNORE_SOL_PAYLOAD_SIZE},
    {"solport", IPMICONSOLE_WORKAROUND_IGNORE_SOL_PORT},
    {"solstatus", IPMICONSOLE_WORKAROUND_SKIP_SOL_ACTIVATION_STATUS},
    {"solchannelsupport", IPMICONSOLE_WORKAROUND_SKIP_CHANNEL_PAYLOAD_SUPPORT},
};

static gboolean
read_user(IpmiAccount *account, const BackendSetup *setup, NodeId node, GError **error)
{
  g_autofree char *user = layout_setting_text(setup->layout, setup->settings, node, "user");

  if (user == NULL)
    return TRUE;
  if (strlen(user) > IPMI_MAX_USER_NAME_LENGTH)
    return setup_fail(setup, node, error, "a user's name has at most %d bytes, and %s has more",
                      IPMI_MAX_USER_NAME_LENGTH, user);
  g_strlcpy(account->user, user, sizeof account->user);
  return TRUE;
}

static gboolean
read_password(IpmiAccount *account, const BackendSetup *setup, NodeId node, GError **error)
{
  g_autoptr(GError) problem = NULL;
  char *password = setup_secret(setup, node, "password", &problem);
  gboolean fits = password == NULL || strlen(password) <= IPMI_2_0_MAX_PASSWORD_LENGTH;

  if (problem != NULL) {
    g_propagate_error(error, g_steal_pointer(&problem));
    return FALSE;
  }
  if (password != NULL && fits)
    g_strlcpy(account->password, password, sizeof account->password);
  secret_free(password);
  return fits ||
         setup_fail(setup, node, error, "an IPMI password has at most %d bytes, and this has more",
                    IPMI_2_0_MAX_PASSWORD_LENGTH);
}

/* Text, or 0x and two digits a byte. */
static gboolean
decode_kg(const char *text, IpmiAccount *account)
{
  gboolean hex = g_str_has_prefix(text, "0x");
  gsize length = hex ? strlen(text + 2) / 2 : strlen(text);

  if (length == 0 || length > sizeof account->kg || (hex && strlen(text) % 2 != 0))
    return FALSE;
  if (!hex)
    memcpy(account->kg, text, length);
  for (gsize i = 0; hex && i < length; i++) {
    int high = g_ascii_xdigit_value(text[2 + 2 * i]), low = g_ascii_xdigit_value(text[3 + 2 * i]);
    if (high < 0 || low < 0)
      return FALSE;
    account->kg[i] = (guchar)(high << 4 | low);
  }
  account->has_kg = TRUE;
  return TRUE;
}

static gboolean
read_kg(IpmiAccount *account, const BackendSetup *setup, NodeId node, GError **error)
{
  g_autoptr(GError) problem = NULL;
  char *kg = setup_secret(setup, node, "kg", &problem);
  gboolean good = kg == NULL || decode_kg(kg, account);

  secret_free(kg);
  if (problem != NULL) {
    g_propagate_error(error, g_steal_pointer(&problem));
    return FALSE;
  }
  return good || setup_fail(setup, node, error,
                            "a K_g is 1 to 20 bytes of text, or 0x and two hex digits for each");
}

static void
read_level(IpmiAccount *account, const BackendSetup *setup, NodeId node)
{
  g_autofree char *level = layout_setting_text(setup->layout, setup->settings, node, "privilege");

  account->privilege = g_str_equal(level, "admin")      ? IPMI_PRIVILEGE_LEVEL_ADMIN
                       : g_str_equal(level, "operator") ? IPMI_PRIVILEGE_LEVEL_OPERATOR
                                                        : IPMI_PRIVILEGE_LEVEL_USER;
}

static gboolean
read_workaround(IpmiAccount *account, const char *word, const BackendSetup *setup, NodeId node,
                GError **error)
{
  const char *names[G_N_ELEMENTS(workarounds) + 1] = {NULL};

  for (gsize i = 0; i < G_N_ELEMENTS(workarounds); i++) {
    names[i] = workarounds[i].name;
    if (g_str_equal(word, names[i])) {
      account->workarounds |= workarounds[i].flag;
      return TRUE;
    }
  }
  const char *nearest = units_nearest_word(word, names);
  if (nearest != NULL)
    return setup_fail(setup, node, error, "there is no work-around %s; is %s meant?", word,
                      nearest);
  return setup_fail(setup, node, error, "there is no work-around %s; ipmipower(8) lists FreeIPMI's",
                    word);
}

static gboolean
read_workarounds(IpmiAccount *account, const BackendSetup *setup, NodeId node, GError **error)
{
  g_auto(GStrv) words = layout_setting_words(setup->layout, setup->settings, node, "workaround");

  for (char **word = words; word != NULL && *word != NULL; word++)
    if (!read_workaround(account, *word, setup, node, error))
      return FALSE;
  return TRUE;
}

static gboolean
add_suite(IpmiBmc *bmc, guint64 suite, const BackendSetup *setup, GError **error)
{
  if (suite > IPMI_CIPHER_SUITE_ID_MAX || !ipmi_suite_known((guint)suite))
    return setup_fail(setup, bmc->node, error,
                      "cipher suite %" G_GUINT64_FORMAT
                      " is none that can be spoken; there are 0-3, "
                      "6-8, 11, 12, 15-17",
                      suite);
  if (bmc->n_suites == IPMI_SUITES_MAX)
    return setup_fail(setup, bmc->node, error, "more than %d cipher suites", IPMI_SUITES_MAX);
  bmc->suites[bmc->n_suites++] = (guint)suite;
  return TRUE;
}

static gboolean
read_suites(IpmiBmc *bmc, const BackendSetup *setup, GError **error)
{
  const Layout *layout = setup->layout;
  g_auto(GStrv) others =
      layout_setting_words(layout, setup->settings, bmc->node, "cipher-fallback");

  if (!add_suite(bmc, layout_setting_count(layout, setup->settings, bmc->node, "cipher"), setup,
                 error))
    return FALSE;
  for (char **other = others; other != NULL && *other != NULL; other++) {
    guint64 suite;
    if (!units_parse_count(*other, IPMI_CIPHER_SUITE_ID_MAX, &suite, NULL))
      return setup_fail(setup, bmc->node, error, "cipher-fallback: %s is no cipher suite", *other);
    if (!add_suite(bmc, suite, setup, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_address(IpmiBmc *bmc, const BackendSetup *setup, GError **error)
{
  bmc->address = layout_setting_text(setup->layout, setup->settings, bmc->node, "address");
  bmc->place = g_network_address_parse(bmc->address, IPMI_PORT, NULL);
  return bmc->place != NULL ||
         setup_fail(setup, bmc->node, error, "%s is no HOST or HOST:PORT", bmc->address);
}

gboolean
ipmi_bmc_init(IpmiBmc *bmc, const BackendSetup *setup, NodeId node, GError **error)
{
  const Layout *layout = setup->layout;
  const LayoutBackend *settings = setup->settings;
  g_autofree char *firmware = layout_setting_text(layout, settings, node, "firmware");

  bmc->node = node;
  bmc->name = layout->nodes[node].name;
  g_queue_init(&bmc->waiting);
  bmc->retransmit = layout_setting_time(layout, settings, node, "retransmit");
  bmc->patience = layout_setting_time(layout, settings, node, "session-timeout");
  bmc->efi = g_str_equal(firmware, "efi");
  bmc->persistent = layout_setting_flag(layout, settings, node, "persistent");
  read_level(&bmc->account, setup, node);
  if (bmc->retransmit <= 0 || bmc->patience <= 0)
    return setup_fail(setup, node, error,
                      "retransmit and session-timeout must be more than nothing");
  return read_address(bmc, setup, error) && read_suites(bmc, setup, error) &&
         read_user(&bmc->account, setup, node, error) &&
         read_password(&bmc->account, setup, node, error) &&
         read_kg(&bmc->account, setup, node, error) &&
         read_workarounds(&bmc->account, setup, node, error);
}

void
ipmi_bmc_clear(IpmiBmc *bmc)
{
  g_free(bmc->address);
  g_clear_object(&bmc->place);
  explicit_bzero(&bmc->account, sizeof bmc->account);
}
