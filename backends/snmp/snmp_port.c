#include "backends/snmp/snmp_port.h"

#include <string.h>

#define CHECK_BYTES 4

/* By place: octets and packets (unicast, multicast, broadcast) in and out; then errors in and out,
 * status, speed, discontinuity. The 32-bit objects have one for all packets that are not unicast.
 */
enum { IN, OUT = 4, ERRORS = 8, STATUS = 10, SPEED, DISCONTINUITY };

#define IF(column)                                                                                 \
  {                                                                                                \
    10,                                                                                            \
    {                                                                                              \
      1, 3, 6, 1, 2, 1, 2, 2, 1, column                                                            \
    }                                                                                              \
  }
#define IFX(column)                                                                                \
  {                                                                                                \
    11,                                                                                            \
    {                                                                                              \
      1, 3, 6, 1, 2, 1, 31, 1, 1, 1, column                                                        \
    }                                                                                              \
  }

static const SnmpName wide_names[SNMP_PORT_ITEMS] = {
    IFX(6),  IFX(7), IFX(8), IFX(9), IFX(10), IFX(11), IFX(12),
    IFX(13), IF(14), IF(20), IF(8),  IFX(15), IFX(19),
};
static const SnmpName narrow_names[SNMP_PORT_ITEMS] = {
    IF(10), IF(11), IF(12), IFX(3), IF(16),  IF(17),  IF(18),
    IFX(5), IF(14), IF(20), IF(8),  IFX(15), IFX(19),
};

void
snmp_port_names(GArray *names, guint32 index, gboolean narrow)
{
  for (guint i = 0; i < SNMP_PORT_ITEMS; i++) {
    SnmpName name = snmp_name_with(narrow ? narrow_names[i] : wide_names[i], index);
    g_array_append_val(names, name);
  }
}

static guint64
number_of(const SnmpValue *value)
{
  return value->kind == SNMP_NUMBER ? value->number : 0;
}

/* ifInNUcastPkts counts broadcasts too, so the 32-bit object of those alone is left out. */
static guint64
packets_of(const SnmpValue *values, gboolean narrow)
{
  return number_of(&values[1]) + number_of(&values[2]) + (narrow ? 0 : number_of(&values[3]));
}

void
snmp_port_read(const SnmpValue values[SNMP_PORT_ITEMS], gboolean narrow, SnmpReading *reading)
{
  guint64 status = number_of(&values[STATUS]);

  *reading = (SnmpReading){
      .bytes = {number_of(&values[IN]), packets_of(values + IN, narrow), number_of(&values[OUT]),
                packets_of(values + OUT, narrow)},
      .there = values[IN].kind == SNMP_NUMBER && values[OUT].kind == SNMP_NUMBER,
      .narrow = narrow,
      .errors = number_of(&values[ERRORS]) + number_of(&values[ERRORS + 1]),
      .discontinuity = number_of(&values[DISCONTINUITY]),
      .speed = (gint64)MIN(number_of(&values[SPEED]), G_MAXUINT32) * 1000000,
      .up = status == 1                  ? 1
            : status == 2 || status == 7 ? 0
                                         : -1, /* 7: lowerLayerDown */
  };
}

static gboolean
was_reset(const SnmpReading *last, const SnmpReading *now)
{
  guint back = (now->bytes.rx_bytes < last->bytes.rx_bytes) +
               (now->bytes.rx_packets < last->bytes.rx_packets) +
               (now->bytes.tx_bytes < last->bytes.tx_bytes) +
               (now->bytes.tx_packets < last->bytes.tx_packets);

  return now->narrow != last->narrow || now->discontinuity != last->discontinuity || back > 1 ||
         (back > 0 && !now->narrow);
}

static guint64
step(guint64 last, guint64 now)
{
  return now >= last ? now - last : now + (G_GUINT64_CONSTANT(1) << 32) - last;
}

static void
add_way(guint64 *bytes, guint64 *packets, guint64 more_bytes, guint64 more_packets, guint64 check)
{
  guint64 checks = MIN(check * more_packets, more_bytes);

  *bytes += more_bytes - checks;
  *packets += more_packets;
}

void
snmp_port_add(SnmpPort *port, const SnmpReading *reading, gboolean check_bytes)
{
  const ProcCounters *last = &port->last.bytes, *now = &reading->bytes;
  guint64 check = check_bytes ? CHECK_BYTES : 0;

  if (!reading->there)
    return;
  if (!port->begun) {
    proc_net_add(&port->net, &port->sum);
  } else if (!was_reset(&port->last, reading)) {
    add_way(&port->sum.rx_bytes, &port->sum.rx_packets, step(last->rx_bytes, now->rx_bytes),
            step(last->rx_packets, now->rx_packets), check);
    add_way(&port->sum.tx_bytes, &port->sum.tx_packets, step(last->tx_bytes, now->tx_bytes),
            step(last->tx_packets, now->tx_packets), check);
    proc_net_add(&port->net, &port->sum);
    if (reading->errors >= port->last.errors)
      port->errors += (gint64)MIN(reading->errors - port->last.errors, G_MAXUINT32);
  }
  port->begun = TRUE;
  port->last = *reading;
}

void
snmp_port_restart(SnmpPort *port)
{
  port->begun = FALSE;
}
