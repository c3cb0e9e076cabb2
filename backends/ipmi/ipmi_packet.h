/* The packets of an IPMI 2.0 (RMCP+) session, made and read with libfreeipmi. No I/O, no clock.
 *
 * Why packets, and not the library's ready-made sessions: those send any request again whose answer
 * is late, and a BMC then switches a machine more than once. Who sends what again, and what is sent
 * once only, is decided in ipmi_session.c.
 *
 * What comes from the network is anybody's: a packet counts only if it answers what was sent, is of
 * this session and bears its authentication code. All else is passed over.
 * ipmi_packet_init() comes first; the main thread only.
 */
#ifndef PULT_IPMI_PACKET_H
#define PULT_IPMI_PACKET_H

#include <freeipmi/freeipmi.h>
#include <glib.h>

#define IPMI_PACKET_MAX 1024
#define IPMI_KEY_MAX 64
#define IPMI_TAGS 64 /* message tags and sequence numbers of requests go round */

/* Who logs in, and how. */
typedef struct {
  char user[IPMI_MAX_USER_NAME_LENGTH + 1];
  char password[IPMI_2_0_MAX_PASSWORD_LENGTH + 1];
  guchar kg[IPMI_MAX_K_G_LENGTH];
  gboolean has_kg;
  guint8 privilege;  /* IPMI_PRIVILEGE_LEVEL_… */
  guint workarounds; /* IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_… */
} IpmiAccount;

/* What both sides of a session know. */
typedef struct {
  const IpmiAccount *account;
  guint8 authentication, integrity, confidentiality; /* algorithms */
  guint32 console_id, bmc_id;
  guchar console_random[16], bmc_random[16], bmc_guid[16];
  guchar sik[IPMI_KEY_MAX], integrity_key[IPMI_KEY_MAX], confidentiality_key[IPMI_KEY_MAX];
  gsize sik_length, integrity_length, confidentiality_length;
  guint32 sequence;      /* of the next packet */
  guint32 highest, seen; /* of the BMC's */
} IpmiKeys;

typedef enum {
  IPMI_PRIVILEGE,    /* argument: the level */
  IPMI_STATUS,       /* of the chassis */
  IPMI_CONTROL,      /* argument: IPMI_CHASSIS_CONTROL_… */
  IPMI_SET_BOOT,     /* argument: IPMI_SYSTEM_BOOT_OPTION_BOOT_FLAG_BOOT_DEVICE_… */
  IPMI_GET_BOOT,     /* the boot device as it is set */
  IPMI_CLOSE_SESSION /* of its own */
} IpmiRequest;

typedef struct {
  IpmiRequest request;
  guint8 argument;
  gboolean efi, persistent; /* IPMI_SET_BOOT */
} IpmiCommand;

typedef struct {
  guint8 code;    /* completion code; the rest counts when it is 0 */
  gboolean on;    /* IPMI_STATUS */
  gboolean valid; /* IPMI_GET_BOOT: these hold for the next boot */
  guint8 device;
  gboolean efi, persistent;
} IpmiReply;

typedef enum {
  PACKET_OTHER,   /* not the answer, or not authentic */
  PACKET_ANSWER,  /* it, and all is well */
  PACKET_REFUSED, /* *CODE says why (RMCPPLUS_STATUS_…) */
  PACKET_PERHAPS, /* the same, without this session's id: anybody could have sent it */
  PACKET_BAD_PASSWORD,
  PACKET_BAD_KG,
} PacketKind;

/* FALSE when libgcrypt cannot be used. */
gboolean ipmi_packet_init(void);
/* FALSE: no such suite, or none that libfreeipmi speaks. */
gboolean ipmi_suite_known(guint suite);

/* Begins a session: random numbers, the suite's algorithms. ACCOUNT is borrowed. */
void ipmi_keys_init(IpmiKeys *keys, const IpmiAccount *account, guint suite);
void ipmi_keys_clear(IpmiKeys *keys); /* wipes them */

/* Each writes a packet of at most IPMI_PACKET_MAX bytes and returns its length; 0: it cannot be
 * made. */
gsize ipmi_make_open(const IpmiKeys *keys, guint8 tag, guchar *packet);
gsize ipmi_make_rakp1(const IpmiKeys *keys, guint8 tag, guchar *packet);
gsize ipmi_make_rakp3(const IpmiKeys *keys, guint8 tag, guchar *packet);
gsize ipmi_make_command(IpmiKeys *keys, const IpmiCommand *command, guint8 sequence,
                        guchar *packet);

/* The answers to them. TAGS: which tags it may bear, a bit each. */
PacketKind ipmi_read_open(IpmiKeys *keys, guint64 tags, const guchar *packet, gsize n,
                          guint8 *code);
PacketKind ipmi_read_rakp2(IpmiKeys *keys, guint64 tags, const guchar *packet, gsize n,
                           guint8 *code);
PacketKind ipmi_read_rakp4(IpmiKeys *keys, guint64 tags, const guchar *packet, gsize n,
                           guint8 *code);
/* PACKET_ANSWER with *REPLY, whatever its completion code, or PACKET_OTHER. */
PacketKind ipmi_read_reply(IpmiKeys *keys, const IpmiCommand *command, guint64 sequences,
                           const guchar *packet, gsize n, IpmiReply *reply);

#endif
