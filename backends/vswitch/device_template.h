/* What is sent: bytes with places for parameters.
 *
 *   \r \n \t \e \\ \xHH   bytes
 *   {in}                  decimal; a text as it is
 *   {in:2}                at least two digits, zeros before
 *   {in:x2} {in:X2} {in:o3} {in:b8}   other bases, with a width or without
 *   {in:byte}             one byte of that value
 *   {user:nibble}{in-1:nibble}        half a byte each, the high one first
 *   {key:url}             percent-encoded
 *   {in-1} {in+64:byte}   with so much taken off or added
 *   {{                    a brace
 */
#ifndef PULT_VSWITCH_DEVICE_TEMPLATE_H
#define PULT_VSWITCH_DEVICE_TEMPLATE_H

#include "backends/vswitch/device.h"

/* DEVICE's parameters are known by now. NULL with `at N: what is wrong`. */
DeviceTemplate *device_template_new(const Device *device, const char *text, GError **error);
void device_template_free(DeviceTemplate *template);
gboolean device_template_takes(const DeviceTemplate *template, guint parameter);
/* Whether it begins with TEXT, whatever the values are. */
gboolean device_template_begins(const DeviceTemplate *template, const char *text);
/* Whether some text or secret stands in it without :url. */
gboolean device_template_is_raw(const DeviceTemplate *template, const Device *device);

/* Appends the bytes to OUT. FALSE with an error: a number does not fit its place. */
gboolean device_template_fill(const DeviceTemplate *template, const DeviceValues *values,
                              GString *out, GError **error);

#endif
