#include <curl/curl.h>
#include <string.h>

#include "backends/vswitch/vswitch_ways.h"

void
vswitch_request_free(gpointer data)
{
  VswitchRequest *request = data;

  /* A header may hold a password. */
  for (guint i = 0; request->headers != NULL && request->headers[i] != NULL; i++)
    explicit_bzero(request->headers[i], strlen(request->headers[i]));
  g_strfreev(request->headers);
  g_free(request->url);
  g_free(request->pin);
  g_free(request);
}

static size_t
on_body(char *bytes, size_t size, size_t n, void *data)
{
  GString *body = data;

  if (body->len + size * n > VSWITCH_MAX_BODY)
    return 0;
  g_string_append_len(body, bytes, (gssize)(size * n));
  return size * n;
}

static int
on_progress(void *data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
  (void)a;
  (void)b;
  (void)c;
  (void)d;
  return g_cancellable_is_cancelled(data);
}

/* Without a pin the usual authorities vouch for the name; with one, its key alone counts. */
static void
set_trust(CURL *curl, const char *pin)
{
  if (pin == NULL)
    return;
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(curl, CURLOPT_PINNEDPUBLICKEY, pin);
}

static CURLcode
perform(CURL *curl, const VswitchRequest *request, GString *body, GCancellable *cancellable)
{
  struct curl_slist *headers = NULL;

  for (guint i = 0; request->headers != NULL && request->headers[i] != NULL; i++)
    headers = curl_slist_append(headers, request->headers[i]);
  curl_easy_setopt(curl, CURLOPT_URL, request->url);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, request->timeout_ms);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, cancellable);
  if (request->post)
    curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, "");
  set_trust(curl, request->pin);
  CURLcode code = curl_easy_perform(curl);
  curl_slist_free_all(headers);
  return code;
}

static void
set_error(GError **error, CURLcode code, gboolean unsent)
{
  const char *why = curl_easy_strerror(code);

  if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
    why = "its certificate is not of the key that `pin` in the layout names";
  else if (code == CURLE_PEER_FAILED_VERIFICATION)
    why = "nobody vouches for its certificate; `pin` in the layout does";
  else if (code == CURLE_WRITE_ERROR)
    why = "its reply is too long";
  else if (code == CURLE_PARTIAL_FILE)
    why = "its reply was cut off";
  g_set_error(error, DEVICE_ERROR, unsent ? VSWITCH_UNSENT : 0, "%s", why);
}

/* The first of all threads sets the library up. */
static CURL *
begin(void)
{
  static gsize once;

  if (g_once_init_enter(&once)) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    g_once_init_leave(&once, 1);
  }
  return curl_easy_init();
}

char *
vswitch_https_do(const VswitchRequest *request, GCancellable *cancellable, GError **error)
{
  g_autoptr(GString) body = g_string_new(NULL);
  CURL *curl = begin();
  long status = 0, sent = 0;

  if (curl == NULL) {
    g_set_error(error, DEVICE_ERROR, 0, "no memory for a request");
    return NULL;
  }
  CURLcode code = perform(curl, request, body, cancellable);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &sent);
  curl_easy_cleanup(curl);
  if (code != CURLE_OK) {
    set_error(error, code, sent == 0);
    return NULL;
  }
  for (gsize i = 0; i < body->len; i++)
    if (body->str[i] == '\n' || body->str[i] == '\r' || body->str[i] == '\0')
      body->str[i] = ' ';
  return g_strdup_printf("%ld %s", status, body->str);
}
