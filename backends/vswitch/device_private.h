/* Between the files that read a description. */
#ifndef PULT_VSWITCH_DEVICE_PRIVATE_H
#define PULT_VSWITCH_DEVICE_PRIVATE_H

#include "backends/vswitch/device.h"
#include "model/yaml_read.h"

/* A list of patterns, or one alone, under KEY of MAP; never NULL. */
GPtrArray *device_read_patterns(const YamlNode *map, const char *key, YamlErrors *errors);
/* An escaped string of bytes without places, `\r\n`; NULL with an error. */
char *device_read_bytes(const YamlNode *value, YamlErrors *errors);
/* ns, at most an hour. */
void device_read_time(const YamlNode *map, const char *key, gint64 *ns, YamlErrors *errors);

/* The sections `login`, `init`, `keep-alive` and `scripts` of ROOT, into device->scripts. The
 * device's parameters and framing are known. */
void device_read_scripts(Device *device, const YamlNode *root, YamlErrors *errors);
void device_script_free(gpointer script);
/* The list `headers` of MAP, https's. */
void device_read_headers(Device *device, const YamlNode *map, YamlErrors *errors);

#endif
