#include "model/layout_setting_private.h"

#include <string.h>

static const char *const privileges[] = {"user", "operator", "admin", NULL};
static const char *const firmwares[] = {"legacy", "efi", NULL};
static const char *const frames[] = {"udp", "ethernet", NULL};
static const char *const ways[] = {"serial", "tcp", "telnet", "https", NULL};
static const char *const keyboards[] = {"us", "de", NULL};
static const char *const versions[] = {"2c", "3", NULL};
static const char *const hashes[] = {"md5",     "sha",     "sha-224", "sha-256",
                                     "sha-384", "sha-512", NULL};
static const char *const ciphers[] = {"des", "aes", "aes-192", "aes-256", NULL};

#define TEXT SETTING_TEXT, NULL, 0, 0, NULL
#define TEXT_OR(fallback) SETTING_TEXT, fallback, 0, 0, NULL
#define WORDS SETTING_WORDS, NULL, 0, 0, NULL
#define SECRET SETTING_SECRET, NULL, 0, 0, NULL
#define COUNT(fallback, min, max) SETTING_COUNT, fallback, min, max, NULL
#define TIME(fallback) SETTING_TIME, fallback, 0, 0, NULL
#define FLAG(fallback) SETTING_FLAG, fallback, 0, 0, NULL
#define CHOICE(words, fallback) SETTING_CHOICE, fallback, 0, 0, words
#define PATTERN SETTING_PATTERN, NULL, 0, 0, NULL

/* clang-format off */
static const SettingKey keys[] = {
    {"ssh", "address", TEXT_OR("{node}"), "host name or address"},
    {"ssh", "user", TEXT, "whoever runs pult, when not given"},
    {"ssh", "port", COUNT("22", 1, 65535), ""},
    {"ssh", "key", TEXT, "file of the private key; ssh's own names when not given"},
    {"ssh", "passphrase", SECRET, "of that key; asked for when it needs one and none is given"},
    {"ssh", "agent", FLAG("true"), "whether keys of a running agent are tried"},
    {"ssh", "known-hosts", TEXT_OR("~/.ssh/known_hosts"), "file of host keys"},
    {"ssh", "accept-new", FLAG("false"), "whether a host not known yet is taken and noted"},
    {"ssh", "jump", TEXT, "[USER@]HOST[:PORT] to go through"},
    {"ssh", "config", TEXT, "an ssh_config(5) to read; its Match exec and ProxyCommand are run"},
    {"ssh", "connect", TIME("10 s"), "for the connection to stand"},
    {"ssh", "auth", TIME("10 s"), "for the keys to be agreed on"},
    {"ssh", "keep-alive", TIME("15 s"), "of silence before the host is asked; twice that is its end"},
    {"ssh", "lease", TIME("60 s"), "without a sign of us until a host ends what we run; 0 s: never"},
    {"ssh", "idle", TIME("5 min"), "after which a connection without work is closed"},
    {"ssh", "retry", TIME("30 s"), "at most, between attempts to connect again"},
    {"ssh", "handshakes", COUNT("32", 1, 1024), "connections being made at once"},
    {"ssh", "interface", TEXT_OR("eth0"), "a client's own, whose counters are read"},
    {"ssh", "sockets", FLAG("true"), "whether a server is asked for its sockets (ss -tin)"},
    {"ssh", "usage-every", TIME("30 s"), "between looks at who is logged in; 0 s: never"},
    {"ssh", "logs", WORDS, "files that are read as they grow, for the stages of boots"},
    {"ssh", "shell", TEXT_OR("sh"), "that runs commands, POSIX"},

    {"ipmi", "address", TEXT_OR("{node}-bmc"), "HOST or HOST:PORT of the BMC"},
    {"ipmi", "user", TEXT, ""},
    {"ipmi", "password", SECRET, ""},
    {"ipmi", "kg", SECRET, "the BMC's own key, text or 0x and hex digits"},
    {"ipmi", "privilege", CHOICE(privileges, "operator"), ""},
    {"ipmi", "cipher", COUNT("3", 0, 17), "cipher suite"},
    {"ipmi", "cipher-fallback", WORDS, "suites to try when the BMC refuses that one, in order"},
    {"ipmi", "workaround", WORDS, "FreeIPMI's names of work-arounds"},
    {"ipmi", "session-timeout", TIME("5 s"), "of a BMC that does not answer"},
    {"ipmi", "retransmit", TIME("1 s"), "of questions; what controls power is never sent twice"},
    {"ipmi", "workers", COUNT("32", 1, 64), "BMCs spoken to at once"},
    {"ipmi", "firmware", CHOICE(firmwares, "legacy"), "what the boot device is set for"},
    {"ipmi", "persistent", FLAG("false"), "whether a boot device holds for more than one boot"},

    {"command", "status.run", WORDS, ""},
    {"command", "status.on", PATTERN, "a line that says so"},
    {"command", "status.off", PATTERN, "a line that says so"},
    {"command", "on.run", WORDS, ""},
    {"command", "off.run", WORDS, ""},
    {"command", "soft-off.run", WORDS, ""},
    {"command", "reset.run", WORDS, ""},
    {"command", "boot-device.run", WORDS, "with {device}: pxe or disk"},
    {"command", "ok", PATTERN, "a line without which an operation has failed"},
    {"command", "fails", PATTERN, "a line with which it has, whatever else was said"},
    {"command", "lost", PATTERN, "a line after which it may have happened: the status then tells"},
    {"command", "address", TEXT, "for {address} in commands"},
    {"command", "secret", SECRET, "what the command needs to know"},
    {"command", "secret-variable", TEXT, "of the environment, that it gets it in; else by its input"},
    {"command", "input", TEXT, "a line it is told, behind the secret"},
    {"command", "workers", COUNT("16", 1, 256), "commands running at once"},

    {"powerman", "address", TEXT_OR("localhost:10101"), "HOST:PORT of powermand"},
    {"powerman", "plug", TEXT_OR("{node}"), "the node's name there"},

    {"wol", "address", TEXT_OR("255.255.255.255"), "where packets are sent to"},
    {"wol", "port", COUNT("9", 1, 65535), ""},
    {"wol", "interface", TEXT, "that they leave by; the way there when not given"},
    {"wol", "repeats", COUNT("3", 1, 100), "packets a wake"},
    {"wol", "gap", TIME("100 ms"), "between them"},
    {"wol", "password", SECRET, "SecureOn: six pairs of hex digits with colons between"},
    {"wol", "frame", CHOICE(frames, "udp"), "udp, or an Ethernet frame to the machine: wants `interface`"},
    {"wol", "via-command", TEXT_OR("wakeonlan {mac}"), "what that node runs"},
    {"wol", "via", TEXT, "a node in the seat's subnet that sends them, by its exec"},

    {"snmp", "address", TEXT_OR("{node}"), "HOST or HOST:PORT of the switch's agent"},
    {"snmp", "version", CHOICE(versions, "2c"), ""},
    {"snmp", "community", SECRET, "of version 2c"},
    {"snmp", "user", TEXT, "of version 3, like all that follow"},
    {"snmp", "auth", CHOICE(hashes, "sha"), ""},
    {"snmp", "auth-password", SECRET, "questions are not signed when not given"},
    {"snmp", "priv", CHOICE(ciphers, "aes"), ""},
    {"snmp", "priv-password", SECRET, "nothing is encrypted when not given"},
    {"snmp", "timeout", TIME("1 s"), "of each try"},
    {"snmp", "retries", COUNT("2", 0, 10), "tries after the first"},
    {"snmp", "retry", TIME("30 s"), "at most, between attempts at an agent that does not answer"},
    {"snmp", "ports", WORDS, "NEIGHBOUR=INTERFACE each, where a port is not found by itself"},
    {"snmp", "ports-every", TIME("1 min"), "between looks at where seats are"},
    {"snmp", "check-bytes", FLAG("true"), "whether it counts a frame's four; Linux does not"},

    {"vswitch", "device", TEXT, "one of `pult help devices`, or a description's file"},
    {"vswitch", "address", TEXT, "HOST or HOST:PORT; the file of a serial line"},
    {"vswitch", "via", CHOICE(ways, NULL), "where the device offers several; the first it names"},
    {"vswitch", "input", TEXT_OR("{number}"), "that the seat is plugged into"},
    {"vswitch", "output", TEXT_OR("1"), "where the operator's screen is"},
    {"vswitch", "user", TEXT, "for a login"},
    {"vswitch", "password", SECRET, "for a login; without one there is none"},
    {"vswitch", "values", WORDS, "KEY=VALUE each, for other parameters of the device"},
    {"vswitch", "pin", TEXT, "sha256//… of an HTTPS server's public key, where no authority vouches"},

    {"libvirt", "uri", TEXT_OR("qemu:///system"), "of the libvirt that has the domain"},
    {"libvirt", "domain", TEXT_OR("{node}"), "its name there"},
    {"libvirt", "user", TEXT, "for a libvirt that asks who you are"},
    {"libvirt", "password", SECRET, ""},
    {"libvirt", "workers", COUNT("6", 1, 64), "changes under way at once, for each URI; each has its connection"},
    {"libvirt", "keep-alive", TIME("5 s"), "of silence before libvirt is asked; five times that is its end; 0 s: never"},
    {"libvirt", "retry", TIME("30 s"), "at most, between attempts to connect again"},
    {"libvirt", "console", TEXT, "alias of the serial device, such as serial1; the first when not given"},
    {"libvirt", "interface", TEXT, "its network device at the host, whose counters are read; all when not given"},

    {"log", "files", WORDS, "that the machine's programs write and this machine can read"},
    {"log", "syslog", TEXT, "[ADDRESS:]PORT of this machine that its syslog is sent to, over UDP"},
    {"log", "sends-from", WORDS, "addresses that its syslog comes from beside `ip`"},

    {"probe", "address", TEXT_OR("{node}"), "host name or address"},
    {"probe", "ways", WORDS, "what is tried, until one answers: ssh, rdp, smb, tcp:PORT"},
    {"probe", "every", TIME("2 s"), "between tries of a machine that does not answer"},
    {"probe", "patience", TIME("2 s"), "for an answer"},
    {"probe", "at-once", COUNT("64", 1, 1024), "machines asked at once"},

    {"*", "keyboard", CHOICE(keyboards, "us"), "of the running system, for keys; firmware has us"},
    {"*", "interval", TIME("1 s"), "between samples, where it meters"},
    {"*", "deadline.status", TIME(NULL), "instead of the lab's"},
    {"*", "deadline.on", TIME(NULL), "instead of the lab's"},
    {"*", "deadline.off", TIME(NULL), "instead of the lab's"},
    {"*", "deadline.soft-off", TIME(NULL), "instead of the lab's"},
    {"*", "deadline.reset", TIME(NULL), "instead of the lab's"},
};
/* clang-format on */

const SettingKey *
layout_setting_keys(guint *n)
{
  *n = G_N_ELEMENTS(keys);
  return keys;
}

const char *const *
layout_backend_types(void)
{
  static const char *const types[] = {"sim",  "ssh",     "ipmi",    "command", "powerman", "wol",
                                      "snmp", "vswitch", "libvirt", "log",     "probe",    NULL};

  return types;
}

const SettingKey *
layout_setting_key(const char *type, const char *key)
{
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
    gboolean common = strcmp(keys[i].type, "*") == 0;
    if ((common || strcmp(keys[i].type, type) == 0) && strcmp(keys[i].key, key) == 0)
      return &keys[i];
  }
  return NULL;
}
