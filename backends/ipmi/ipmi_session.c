#include "backends/ipmi/ipmi_session.h"

#include <errno.h>

#define NS_PER_US 1000
#define CLOSE_PATIENCE G_GINT64_CONSTANT(1000000000)
#define RESENDS_OF_A_SHAKE 2 /* of its later parts, before it is begun anew */
#define SHAKES_MAX 6
#define READS_A_TURN 32
/* What comes before there are keys may be anybody's. A true answer is then right behind it. */
#define GRACE_US 250000

typedef enum { STEP_IDLE, STEP_OPEN, STEP_RAKP1, STEP_RAKP3, STEP_COMMAND } Step;

struct IpmiSession {
  GSocketAddress *address;
  const IpmiAccount *account;
  guint suite;
  gint64 retransmit, patience;
  GSocket *socket;
  GSource *incoming, *timer;
  IpmiKeys keys;
  gboolean is_open, closing, answered;
  /* What is under way. */
  Step step;
  gboolean opening; /* until the privilege level is set */
  gboolean once;
  IpmiCommand command;
  guint8 tag;       /* of the next packet */
  guint64 tags;     /* those its answer may bear */
  guint n_sent;     /* of this step */
  guint n_nobody;   /* times that nobody listened there */
  gint64 resend_us; /* G_MAXINT64: not again */
  gint64 end_us;
  guint n_shakes;
  IpmiTrouble doubt; /* what becomes of it if nothing better comes */
  guint doubt_code;
  /* What came of it, once the timer comes to tell. */
  gboolean over;
  IpmiTrouble trouble;
  guint code;
  IpmiReply reply;
  IpmiAnswered tell;
  gpointer data;
};

static void
arm(IpmiSession *session)
{
  gint64 due = session->over ? 0 : MIN(session->resend_us, session->end_us);

  g_source_set_ready_time(session->timer, session->step == STEP_IDLE && !session->over ? -1 : due);
}

/* It is told by the timer: never from within a call. */
static void
finish(IpmiSession *session, IpmiTrouble trouble, guint code)
{
  session->over = TRUE;
  session->step = STEP_IDLE;
  session->trouble = trouble;
  session->code = code;
  arm(session);
}

static gsize
make_packet(IpmiSession *session, guint8 tag, guchar *packet)
{
  switch (session->step) {
  case STEP_OPEN:
    return ipmi_make_open(&session->keys, tag, packet);
  case STEP_RAKP1:
    return ipmi_make_rakp1(&session->keys, tag, packet);
  case STEP_RAKP3:
    return ipmi_make_rakp3(&session->keys, tag, packet);
  case STEP_COMMAND:
    return ipmi_make_command(&session->keys, &session->command, tag, packet);
  case STEP_IDLE:
    break;
  }
  g_assert_not_reached();
}

static gboolean
is_fatal(int code)
{
  return code == EACCES || code == EPERM || code == EINVAL || code == EAFNOSUPPORT ||
         code == ENETUNREACH || code == EHOSTUNREACH;
}

/* 0, or the errno. A complaint of the peer's about an earlier packet is told in place of sending
 * this one, which so has not left yet. */
static int
send_bytes(const IpmiSession *session, const guchar *packet, gsize n)
{
  int fd = g_socket_get_fd(session->socket);

  for (guint i = 0; i < 3; i++) {
    if (send(fd, packet, n, MSG_NOSIGNAL) >= 0)
      return 0;
    if (errno != ECONNREFUSED && errno != EINTR)
      break;
  }
  return errno;
}

static void
send_packet(IpmiSession *session)
{
  guchar packet[IPMI_PACKET_MAX];
  guint8 tag = session->tag;
  gsize n = make_packet(session, tag, packet);
  gint64 now = g_get_monotonic_time();

  session->tag = (tag + 1) % IPMI_TAGS;
  session->tags |= G_GUINT64_CONSTANT(1) << tag;
  int code = n > 0 ? send_bytes(session, packet, n) : EINVAL;
  /* A datagram that could not be queued is like one that got lost. */
  if (is_fatal(code) && !session->is_open) {
    finish(session, TROUBLE_NETWORK, (guint)code);
    return;
  }
  /* A question to a slow BMC is not to pile up there; a shake that hangs is begun anew instead. */
  guint doublings = session->step == STEP_COMMAND ? MIN(session->n_sent, 8) : 0;
  gint64 late = session->retransmit / NS_PER_US << doublings;
  session->resend_us = session->once ? G_MAXINT64 : now + late;
  session->n_sent++;
}

/* STEP begins; PATIENCE counts from now. */
static void
begin(IpmiSession *session, Step step, gint64 patience)
{
  session->step = step;
  session->tags = 0;
  session->n_sent = 0;
  session->doubt = TROUBLE_NONE;
  session->end_us = g_get_monotonic_time() + patience / NS_PER_US;
  send_packet(session);
  if (!session->over)
    arm(session);
}

/* The BMC may have the session already that this side has no proof of yet. */
static void
close_blindly(IpmiSession *session)
{
  static const IpmiCommand command = {.request = IPMI_CLOSE_SESSION};
  guchar packet[IPMI_PACKET_MAX];
  gsize n = ipmi_make_command(&session->keys, &command, session->tag, packet);

  if (n > 0)
    send_bytes(session, packet, n);
}

static void
begin_shake(IpmiSession *session)
{
  if (session->step == STEP_RAKP3)
    close_blindly(session);
  session->n_shakes++;
  ipmi_keys_clear(&session->keys);
  ipmi_keys_init(&session->keys, session->account, session->suite);
  session->is_open = FALSE;
}

static void
begin_command(IpmiSession *session, const IpmiCommand *command, gboolean once, gint64 patience)
{
  session->command = *command;
  session->once = once;
  begin(session, STEP_COMMAND, patience);
}

/* ---- What comes in ------------------------------------------------------------------------- */

static void
take_step(IpmiSession *session)
{
  session->answered = TRUE;
  switch (session->step) {
  case STEP_OPEN:
    begin(session, STEP_RAKP1, session->patience);
    break;
  case STEP_RAKP1:
    begin(session, STEP_RAKP3, session->patience);
    break;
  case STEP_RAKP3:
    session->is_open = TRUE;
    IpmiCommand level = {.request = IPMI_PRIVILEGE, .argument = session->account->privilege};
    begin_command(session, &level, FALSE, session->patience);
    break;
  case STEP_COMMAND:
    if (session->opening && session->reply.code != IPMI_COMP_CODE_COMMAND_SUCCESS)
      finish(session, TROUBLE_LEVEL, session->reply.code);
    else
      finish(session, TROUBLE_NONE, 0);
    session->opening = FALSE;
    break;
  case STEP_IDLE:
    break;
  }
}

static PacketKind
read_packet(IpmiSession *session, const guchar *packet, gsize n, guint8 *code)
{
  switch (session->step) {
  case STEP_OPEN:
    return ipmi_read_open(&session->keys, session->tags, packet, n, code);
  case STEP_RAKP1:
    return ipmi_read_rakp2(&session->keys, session->tags, packet, n, code);
  case STEP_RAKP3:
    return ipmi_read_rakp4(&session->keys, session->tags, packet, n, code);
  case STEP_COMMAND:
    return ipmi_read_reply(&session->keys, &session->command, session->tags, packet, n,
                           &session->reply);
  case STEP_IDLE:
    break;
  }
  return PACKET_OTHER;
}

/* Whatever the BMC thinks of this session by now: a new one. The patience stays. */
static void
shake_anew(IpmiSession *session)
{
  gint64 end = session->end_us;

  begin_shake(session);
  begin(session, STEP_OPEN, session->patience);
  session->end_us = end;
  arm(session);
}

/* It lost the session, or answered a RAKP 3 before and knows nothing of a second one. */
static gboolean
is_out_of_step(const IpmiSession *session, guint code)
{
  return session->n_shakes < SHAKES_MAX && session->step != STEP_OPEN &&
         (code == RMCPPLUS_STATUS_INVALID_SESSION_ID ||
          code == RMCPPLUS_STATUS_INACTIVE_SESSION_ID ||
          (session->step == STEP_RAKP3 && session->n_sent > 1));
}

static void
doubt(IpmiSession *session, IpmiTrouble trouble, guint code)
{
  session->doubt = trouble;
  session->doubt_code = code;
  session->resend_us = G_MAXINT64;
  session->end_us = MIN(session->end_us, g_get_monotonic_time() + GRACE_US);
  arm(session);
}

static void
take_packet(IpmiSession *session, const guchar *packet, gsize n)
{
  guint8 code = 0;

  switch (read_packet(session, packet, n, &code)) {
  case PACKET_ANSWER:
    take_step(session);
    break;
  case PACKET_REFUSED:
    session->answered = TRUE;
    if (is_out_of_step(session, code))
      shake_anew(session);
    else
      doubt(session, TROUBLE_REFUSED, code);
    break;
  case PACKET_PERHAPS:
    session->doubt = TROUBLE_REFUSED;
    session->doubt_code = code;
    break;
  case PACKET_BAD_PASSWORD:
    doubt(session, TROUBLE_PASSWORD, 0);
    break;
  case PACKET_BAD_KG:
    doubt(session, TROUBLE_KG, 0);
    break;
  case PACKET_OTHER:
    break;
  }
}

/* The peer's machine says that nothing listens. It may be about to. */
static void
nobody_there(IpmiSession *session)
{
  session->n_nobody++;
  if (session->step == STEP_OPEN && session->n_sent > 1)
    finish(session, TROUBLE_NOBODY, 0);
}

static gboolean
on_packet(GSocket *socket, GIOCondition condition, gpointer data)
{
  IpmiSession *session = data;
  guchar packet[IPMI_PACKET_MAX];

  (void)condition;
  /* Not for ever: somebody may send faster than this reads. */
  for (guint i = 0; i < READS_A_TURN; i++) {
    gssize n = recv(g_socket_get_fd(socket), packet, sizeof packet, 0);
    if (n > 0)
      take_packet(session, packet, (gsize)n);
    else if (n < 0 && errno == ECONNREFUSED)
      nobody_there(session);
    else if (n < 0)
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* ---- What does not ------------------------------------------------------------------------- */

static void
give_up(IpmiSession *session)
{
  if (session->doubt != TROUBLE_NONE)
    finish(session, session->doubt, session->doubt_code);
  else if (session->answered)
    finish(session, TROUBLE_LOST, 0);
  else
    finish(session, session->n_nobody > 0 ? TROUBLE_NOBODY : TROUBLE_SILENT, 0);
}

static void
send_again(IpmiSession *session)
{
  gboolean shaking = session->step == STEP_RAKP1 || session->step == STEP_RAKP3;
  if (!shaking || session->n_sent <= RESENDS_OF_A_SHAKE) {
    send_packet(session);
    return;
  }
  shake_anew(session);
}

static void
answer(IpmiSession *session)
{
  IpmiTrouble trouble = session->trouble;
  IpmiReply reply = session->reply;
  gboolean replied = trouble == TROUBLE_NONE && session->tell != NULL;

  session->over = FALSE;
  session->opening = FALSE;
  arm(session);
  if (session->tell != NULL)
    session->tell(trouble, session->code, replied ? &reply : NULL, session->data);
}

static gboolean
on_timer(gpointer data)
{
  IpmiSession *session = data;
  gint64 now = g_get_monotonic_time();

  if (session->over) {
    answer(session); /* which may have freed it */
    return G_SOURCE_CONTINUE;
  }
  if (now >= session->end_us)
    give_up(session);
  else if (now >= session->resend_us)
    send_again(session);
  arm(session);
  return G_SOURCE_CONTINUE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
  (void)source;
  return callback(data);
}

static GSourceFuncs timer_class = {.dispatch = dispatch};

/* ---- From outside -------------------------------------------------------------------------- */

IpmiSession *
ipmi_session_new(GSocketAddress *address, const IpmiAccount *account, guint suite,
                 gint64 retransmit, gint64 patience)
{
  IpmiSession *session = g_new0(IpmiSession, 1);

  session->address = address;
  session->account = account;
  session->suite = suite;
  session->retransmit = retransmit;
  session->patience = patience;
  session->timer = g_source_new(&timer_class, sizeof(GSource));
  g_source_set_callback(session->timer, on_timer, session, NULL);
  g_source_attach(session->timer, NULL);
  return session;
}

static void
source_clear(GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy(*source);
  g_source_unref(*source);
  *source = NULL;
}

void
ipmi_session_free(IpmiSession *session)
{
  if (session == NULL)
    return;
  if (session->is_open && !session->closing)
    close_blindly(session);
  source_clear(&session->incoming);
  source_clear(&session->timer);
  g_clear_object(&session->socket);
  ipmi_keys_clear(&session->keys);
  g_free(session);
}

static gboolean
open_socket(IpmiSession *session)
{
  session->socket = g_socket_new(g_socket_address_get_family(session->address),
                                 G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  if (session->socket == NULL)
    return FALSE;
  g_socket_set_blocking(session->socket, FALSE);
  /* Connected: the kernel then passes on no other's packets, and what ICMP says. */
  if (!g_socket_connect(session->socket, session->address, NULL, NULL))
    return FALSE;
  session->incoming = g_socket_create_source(session->socket, G_IO_IN, NULL);
  g_source_set_callback(session->incoming, G_SOURCE_FUNC(on_packet), session, NULL);
  g_source_attach(session->incoming, NULL);
  return TRUE;
}

void
ipmi_session_open(IpmiSession *session, IpmiAnswered answered, gpointer data)
{
  g_assert(session->step == STEP_IDLE && !session->over && session->socket == NULL);
  session->tell = answered;
  session->data = data;
  session->opening = TRUE;
  begin_shake(session);
  if (open_socket(session))
    begin(session, STEP_OPEN, session->patience);
  else
    finish(session, TROUBLE_NETWORK, (guint)errno);
}

static void
ask(IpmiSession *session, const IpmiCommand *command, gboolean once, gint64 patience,
    IpmiAnswered answered, gpointer data)
{
  g_assert(session->step == STEP_IDLE && !session->over && session->is_open);
  session->tell = answered;
  session->data = data;
  begin_command(session, command, once, patience);
}

void
ipmi_session_ask(IpmiSession *session, const IpmiCommand *command, IpmiAnswered answered,
                 gpointer data)
{
  ask(session, command, FALSE, session->patience, answered, data);
}

void
ipmi_session_ask_once(IpmiSession *session, const IpmiCommand *command, gint64 wait,
                      IpmiAnswered answered, gpointer data)
{
  ask(session, command, TRUE, wait, answered, data);
}

void
ipmi_session_close(IpmiSession *session, IpmiAnswered closed, gpointer data)
{
  static const IpmiCommand command = {.request = IPMI_CLOSE_SESSION};

  if (session->step == STEP_RAKP3)
    close_blindly(session);
  session->over = session->opening = FALSE;
  session->closing = TRUE;
  session->step = STEP_IDLE;
  session->tell = closed;
  session->data = data;
  if (session->is_open)
    begin_command(session, &command, FALSE, MIN(CLOSE_PATIENCE, session->patience));
  else
    finish(session, TROUBLE_NONE, 0);
}

gboolean
ipmi_session_is_answered(const IpmiSession *session)
{
  return session->answered;
}
