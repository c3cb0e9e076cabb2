#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "backends/vswitch/vswitch_ways.h"

static const struct {
  guint baud;
  speed_t speed;
} speeds[] = {{300, B300},     {600, B600},       {1200, B1200},    {2400, B2400},
              {4800, B4800},   {9600, B9600},     {19200, B19200},  {38400, B38400},
              {57600, B57600}, {115200, B115200}, {230400, B230400}};

static gboolean
set_up(int fd, const Device *device)
{
  struct termios line;
  speed_t speed = B9600;

  for (guint i = 0; i < G_N_ELEMENTS(speeds); i++)
    if (speeds[i].baud == device->speed)
      speed = speeds[i].speed;
  if (tcgetattr(fd, &line) != 0)
    return FALSE;
  cfmakeraw(&line);
  line.c_cflag &= (tcflag_t) ~(CSIZE | PARENB | PARODD | CSTOPB | CRTSCTS);
  line.c_cflag |= CLOCAL | CREAD | (device->bits == 7 ? CS7 : CS8);
  if (device->parity != 'n')
    line.c_cflag |= PARENB | (device->parity == 'o' ? PARODD : 0u);
  if (device->stop_bits == 2)
    line.c_cflag |= CSTOPB;
  line.c_cc[VMIN] = 1;
  line.c_cc[VTIME] = 0;
  return cfsetspeed(&line, speed) == 0 && tcsetattr(fd, TCSANOW, &line) == 0 &&
         tcflush(fd, TCIOFLUSH) == 0;
}

int
vswitch_serial_open(const char *path, const Device *device, GError **error)
{
  int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

  if (fd < 0) {
    g_set_error(error, DEVICE_ERROR, 0, "cannot open %s: %s", path, g_strerror(errno));
    return -1;
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    g_set_error(error, DEVICE_ERROR, 0, "%s is in use: another program has locked it", path);
  else if (!set_up(fd, device))
    g_set_error(error, DEVICE_ERROR, 0, "%s is no serial line: %s", path, g_strerror(errno));
  else
    return fd;
  close(fd);
  return -1;
}
