#include "tests/contract/domain_lab.h"

#ifdef HAVE_LIBVIRT

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "backends/libvirt/libvirt.h"

#define PATIENCE (60 * TIME_SECOND)

static const char domain_text[] =
    "<domain type='test' xmlns:test='http://libvirt.org/schemas/domain/test/1.0'>\n"
    "  <name>vm-a%02u</name><memory unit='MiB'>64</memory><vcpu>1</vcpu>\n"
    "  <os><type arch='x86_64'>hvm</type><boot dev='hd'/></os>\n"
    "  <devices>\n"
    "    <disk type='file'><source file='/nowhere'/><target dev='vda'/></disk>\n"
    "    <interface type='network'><source network='default'/>\n"
    "      <mac address='52:54:00:0a:00:%02x'/><target dev='tap%u'/></interface>\n"
    "  </devices>\n"
    "  <test:runstate>5</test:runstate>\n"
    "</domain>\n";

char *
domain_lab_xml(guint number)
{
  return g_strdup_printf(domain_text, number, number, number);
}

DomainLab *
domain_lab_new(guint n)
{
  DomainLab *lab = g_new0(DomainLab, 1);
  g_autoptr(GString) text = g_string_new("<node>\n");

  lab->folder = g_dir_make_tmp("pult-domains-XXXXXX", NULL);
  assert_non_null(lab->folder);
  for (guint i = 1; i <= n; i++) {
    g_autofree char *domain = domain_lab_xml(i);
    g_string_append(text, domain);
  }
  g_string_append(text, "<network><name>default</name><bridge name='br0'/>"
                        "<ip address='10.0.0.1' netmask='255.255.255.0'/></network>\n</node>\n");
  g_autofree char *file = g_build_filename(lab->folder, "room.xml", NULL);
  assert_true(g_file_set_contents(file, text->str, -1, NULL));
  lab->room = g_strdup_printf("test://%s", file);
  lab->seen = g_string_new(NULL);
  return lab;
}

static void
on_seen(const Event *event, gpointer data)
{
  const DomainLab *lab = data;

  if (event->kind == EVENT_OBSERVE)
    g_string_append_printf(lab->seen, "%s: %s %s\n", lab->layout->nodes[event->observe.node].name,
                           event->observe.fact, event->observe.value);
  else if (event->kind == EVENT_LINK)
    g_string_append_printf(lab->seen, "link %s: %s\n", event->link.up ? "up" : "down",
                           event->link.text);
  else if (event->kind == EVENT_LINE)
    g_string_append_printf(lab->seen, "%s: %s %s\n", lab->layout->nodes[event->line.node].name,
                           event->line.stream, event->line.text);
  else if (event->kind == EVENT_SAMPLES)
    g_string_append_printf(lab->seen, "samples of %s\n", event->samples.source);
}

void
domain_lab_open(DomainLab *lab, const char *clients, const char *settings)
{
  GError *error = NULL;
  g_autofree char *text =
      g_strdup_printf("lab: t\ndefaults: {power: vm, console: vm, meter: vm}\nswitches: {sw1: {}}\n"
                      "clients:\n%sbackends:\n  vm:\n    type: libvirt\n    domain: \"vm-{node}\"\n"
                      "    uri: \"%s\"\n%s",
                      clients, lab->room, settings);

  lab->layout = layout_parse("t", text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  BackendSetup setup = {.name = g_intern_string("vm"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "vm"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  Backend *backend = libvirt_backend_new(&setup, &error);
  if (backend == NULL)
    fail_msg("%s", error->message);
  backend_check_start(lab->check, backend);
}

void
domain_lab_close(DomainLab *lab)
{
  g_clear_pointer(&lab->check, backend_check_free);
  g_clear_pointer(&lab->layout, layout_free);
  g_string_truncate(lab->seen, 0);
  /* What threads handed over last. */
  while (g_main_context_iteration(NULL, FALSE))
    ;
}

void
domain_lab_free(DomainLab *lab)
{
  g_autofree char *file = g_build_filename(lab->folder, "room.xml", NULL);

  if (lab->check != NULL)
    domain_lab_close(lab);
  g_unlink(file);
  g_rmdir(lab->folder);
  g_free(lab->folder);
  g_free(lab->room);
  g_string_free(lab->seen, TRUE);
  g_free(lab);
}

void
domain_lab_see(const DomainLab *lab, const char *text)
{
  gint64 until = backend_check_now(lab->check) + PATIENCE;

  while (strstr(lab->seen->str, text) == NULL)
    if (!backend_check_step(lab->check, until))
      fail_msg("never saw `%s` in\n%s", text, lab->seen->str);
}

#endif
