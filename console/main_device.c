#include "main_device.h"

#include <string.h>

#include "backends/vswitch/device_template.h"
#include "main_options.h"
#include "main_say.h"
#include "model/units.h"
#include "session/data.h"

Device *
main_read_device(const char *name, GError **error)
{
  g_autofree char *path = NULL, *text = NULL;
  gsize length;

  if (!data_read(DEVICE_FOLDER, name, ".yaml", &path, &text, &length, error))
    return NULL;
  return device_parse(path, text, length, error);
}

/* ---- What it is ---------------------------------------------------------------------------- */

static void
print_ways(const Device *device)
{
  printf("reached by ");
  const char *between = "";
  for (DeviceWay way = 0; way < DEVICE_WAYS; way++) {
    if (!device->offers[way])
      continue;
    printf("%s%s", between, device_way_name(way));
    if (way == DEVICE_SERIAL)
      printf(" %u %u%c%u", device->speed, device->bits, g_ascii_toupper(device->parity),
             device->stop_bits);
    else
      printf(" %u", device->port[way]);
    between = ", ";
  }
  printf("\n");
}

static void
print_parameter(const DeviceParameter *parameter)
{
  printf(parameter->fallback != NULL ? " [%s=" : " %s=", parameter->name);
  if (parameter->kind == DEVICE_NUMBER)
    printf("%u..%u", parameter->min, parameter->max);
  else
    printf("%s", parameter->kind == DEVICE_WORDS    ? "WORD"
                 : parameter->kind == DEVICE_SECRET ? "SECRET"
                                                    : "TEXT");
  if (parameter->fallback != NULL) {
    printf("; ");
    main_print(stdout, parameter->fallback);
    printf("]");
  }
}

static int
print_device(const Device *device)
{
  printf("%s: ", device->name);
  main_print(stdout, device->about);
  printf("\nsource: ");
  main_print(stdout, device->source);
  printf("\n");
  print_ways(device);
  for (guint i = 0; i < device->scripts->len; i++) {
    const DeviceScript *script = device->scripts->pdata[i];
    printf("  %-14s", script->name);
    for (guint k = 0; k < device->n_parameters; k++)
      if (device_script_takes(script, k))
        print_parameter(&device->parameters[k]);
    printf("\n");
  }
  return main_finish_output(0);
}

/* ---- What it would be sent ----------------------------------------------------------------- */

static void
print_bytes(const DeviceValues *values, const GString *bytes)
{
  g_autofree char *shown = device_shown(values, bytes->str, bytes->len);

  printf("send   \"%s\"\n", shown);
  /* Hex would tell a secret. */
  if (strstr(shown, "***") != NULL)
    return;
  for (gsize i = 0; i < bytes->len; i++)
    printf("%s%02x", i % 16 > 0 ? " " : i > 0 ? "\n       " : "       ", (guint8)bytes->str[i]);
  printf("\n");
}

static void
print_time(const char *what, gint64 ns)
{
  g_autofree char *time = units_print((double)ns / 1e9, DIMENSION_TIME);

  printf("%s %s\n", what, time);
}

static gboolean
print_step(const DeviceStep *step, const DeviceValues *values, GError **error)
{
  g_autoptr(GString) bytes = g_string_new(NULL);

  if (step->send != NULL) {
    if (!device_template_fill(step->send, values, bytes, error))
      return FALSE;
    print_bytes(values, bytes);
  }
  if (step->echo)
    printf("expect its echo\n");
  for (guint i = 0; i < step->expects->len; i++) {
    printf("%s ", i == 0 ? "expect" : "    or");
    main_print(stdout, pattern_text(step->expects->pdata[i]));
    printf("\n");
  }
  if (step->silence > 0)
    print_time("expect silence for", step->silence);
  if (step->echo || step->expects->len > 0)
    print_time("within", step->within);
  if (step->pause > 0)
    print_time("pause ", step->pause);
  return TRUE;
}

static int
dry_run(const DeviceScript *script, const DeviceValues *values)
{
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < script->n_steps; i++)
    if (!print_step(&script->steps[i], values, &error))
      return main_fail(error);
  return main_finish_output(0);
}

/* ---- The command line ---------------------------------------------------------------------- */

static DeviceValues *
read_values(const Device *device, const DeviceScript *script, char **words, guint n, GError **error)
{
  g_autofree Argument *given = g_new0(Argument, n + 1);
  g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);

  for (guint i = 0; i < n; i++) {
    const char *equals = strchr(words[i], '=');
    if (equals == NULL) {
      g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "`%s` is no KEY=VALUE",
                  words[i]);
      return NULL;
    }
    g_ptr_array_add(keys, g_strndup(words[i], (gsize)(equals - words[i])));
    given[i] = (Argument){keys->pdata[i], equals + 1};
  }
  return device_values_new(device, script, given, n, error);
}

int
main_device(int argc, char **argv)
{
  gboolean dry = FALSE;
  const GOptionEntry entries[] = {
      {"dry-run", 0, 0, G_OPTION_ARG_NONE, &dry, "print what the device would be sent", NULL},
      G_OPTION_ENTRY_NULL,
  };
  g_autoptr(GError) error = NULL;
  if (!main_parse_entries(entries, "NAME|FILE [SCRIPT KEY=VALUE…]",
                          "Describes a video switch, or what one of its scripts sends.", &argc,
                          &argv, &error))
    return main_fail(error);
  if (argc < 2) {
    main_complain("device takes a description: a file, or one of `pult help devices`");
    return EXIT_USAGE;
  }
  g_autoptr(Device) device = main_read_device(argv[1], &error);
  if (device == NULL)
    return main_fail(error);
  if (argc == 2)
    return print_device(device);
  const DeviceScript *script = device_script_get(device, argv[2], &error);
  g_autoptr(DeviceValues) values =
      script != NULL ? read_values(device, script, argv + 3, (guint)argc - 3, &error) : NULL;
  if (values == NULL)
    return main_fail(error);
  if (dry)
    return dry_run(script, values);
  main_complain("a script wants --dry-run");
  return EXIT_USAGE;
}
