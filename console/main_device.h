#ifndef PULT_MAIN_DEVICE_H
#define PULT_MAIN_DEVICE_H

#include "backends/vswitch/device.h"

/* Where descriptions are shipped. */
#define DEVICE_FOLDER "backends/devices"

/* A shipped one by its name, or a file. */
Device *main_read_device(const char *name, GError **error);

/* `pult device NAME|FILE [SCRIPT KEY=VALUE…]`: a description shown, or one of its scripts. */
int main_device(int argc, char **argv);

#endif
