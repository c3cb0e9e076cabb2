#include "core/command.h"

#include <string.h>

#define COLUMNS 79

/* Prose is wrapped at 76 columns here; examples are indented by two. */
const VerbInfo command_verbs[] = {
    {"power", "power status|on|off|cycle|reset SET [soft|hard] [stagger DUR] [including in-use]",
     "look at the power of seats, or switch it",
     "Asks for or changes the power of every seat in SET, through whatever the\n"
     "layout names for that seat. Done when each seat has answered.\n"
     "\n"
     "cycle switches off, makes sure it saw the seat off, and switches on again;\n"
     "reset presses the reset button. off and cycle are hard unless soft is given:\n"
     "that asks the running system to shut down, and may take two minutes. stagger\n"
     "leaves that much time between one seat and the next, which spares fuses and\n"
     "the boot server.\n"
     "\n"
     "Everything but status first names the seats it would touch. Protected nodes\n"
     "are never touched; seats in use or reserved only with\n"
     "including in-use.\n"
     "\n"
     "Example:\n"
     "  power cycle a[01-17] stagger 0.5 s\n"},
    {"boot",
     "boot SET [via pxe|disk|keys|kexec] [entry NAME] [cold|warm] [stagger DUR] [as LABEL] "
     "[including in-use]",
     "boot seats and time every stage",
     "Sets what the seats in SET start from, then switches them on. Seats that are\n"
     "on already are power cycled (cold, the default) or reset (warm). Done when\n"
     "every seat was started: how far each then comes is a matter for wait.\n"
     "\n"
     "via and entry default to what the layout says. entry is a line of the boot\n"
     "menu, such as ubuntu-10.04::nfs. via keys presses what the layout has under\n"
     "boot: {keys: ...}, F12 in the firmware and the entry's keys in the menu, once\n"
     "the seats are on: for machines that only a keyboard leads. The plan says how\n"
     "keys go to the seats, and how far apart they had them is told behind it.\n"
     "\n"
     "With as LABEL the boot has a name, under which wait finds it and expect its\n"
     "figures: LABEL.boot.median and .mean .min .max .p90, menu, stage.NAME, ok\n"
     "and failed. Booting again under the same label adds a run to its figures.\n"
     "\n"
     "Example:\n"
     "  boot roomA via pxe entry ubuntu-10.04::nbd as nbd16\n"},
    {"wait",
     "wait (boot LABEL|SET STAGE | load LABEL | power SET on|off) [at-least N] [timeout DUR]",
     "wait for a boot stage, a load or power",
     "wait boot waits until the seats of a boot, or those of a set, have reached\n"
     "STAGE: firmware, dhcp, tftp, kernel, initramfs, root or login. A bare word\n"
     "is a boot's label, or else a node; a group needs its @. wait load waits for\n"
     "the end of a load, wait power until seats are seen on or off.\n"
     "\n"
     "at-least N is content with that many seats. When the timeout passes, 600 s\n"
     "unless given, the command ends as timeout. When the seats still missing have\n"
     "failed, or no log and no console tells their stages, it ends as partial, or as\n"
     "failed if none made it. Who is missing is said.\n"
     "\n"
     "Example:\n"
     "  wait boot nbd16 login at-least 15 timeout 3 min\n"},
    {"load",
     "load start JOB on SET [cold|warm] [for DUR] [as LABEL] [KEY=VALUE…] | load "
     "stop|leave LABEL",
     "run a job on seats, stop it, or leave it running",
     "Starts JOB on every seat of SET and leaves it running: wait load LABEL waits\n"
     "for its end, load stop LABEL ends it. load leave LABEL lets it run on without\n"
     "pult and without figures, to its own end or that of its `for`; what still runs\n"
     "when pult ends is ended with it. cold empties the caches before, the\n"
     "server's too, and is asked about because others share that server; warm has\n"
     "everything read once before. With neither the caches are as they are.\n"
     "\n"
     "`pult help jobs` lists the jobs. for DUR stops one after that time. KEY=VALUE\n"
     "are its own settings: on the simulator rate=, bytes=, protocol=nfs, nbd or\n"
     "local, and mount=, one of the exports the layout gives the seat's server.\n"
     "The label's figures are rate.min .median .max .sum, seconds, bytes, files,\n"
     "skew, ok and failed.\n"
     "\n"
     "Example:\n"
     "  load start find-cat on roomA cold for 60 s as find1\n"},
    {"measure", "measure SOURCE… (for DUR | during LABEL) [window DUR] as LABEL",
     "record rates and peaks under a label",
     "Records the figures of its sources for a time, or for as long as the boot or\n"
     "load that during names still lasts. Done when that is over. Sources:\n"
     "\n"
     "  bond, bond:NAME    all ports of the server's bond, added up\n"
     "  port:eth0          one of its ports\n"
     "  link:sw2-sw3       a link between two switches\n"
     "  seats              what each seat receives\n"
     "  server             load, nfsd threads in use, bytes from disk\n"
     "\n"
     "Figures are LABEL.bond.tx.peak and .mean, the same of rx, eth0, sw2-sw3;\n"
     "seats.rx.min .median .max; load.max, nfsd.max, disk.bytes. A peak is the\n"
     "largest mean over window, which is 1 s unless given. Rates are bit/s of\n"
     "payload.\n"
     "\n"
     "Example:\n"
     "  boot roomA entry ubuntu-10.04::nbd as nbd16\n"
     "  measure bond link:sw2-sw3 during nbd16 as net16\n"
     "  expect net16.bond.tx.peak <= 1.9 Gbit/s\n"},
    {"expect", "expect LABEL.FIGURE (< | <= | > | >= | within) VALUE [+-N%]",
     "say what a figure should be",
     "Compares a figure of a boot, load or measurement with a value and says\n"
     "whether the expectation held. One that does not hold is told, and the script\n"
     "goes on; pult run then ends with status 1. VALUE has the figure's unit, any\n"
     "prefix of it; counts have none. within needs a tolerance.\n"
     "\n"
     "Example:\n"
     "  boot roomA entry ubuntu-10.04::nbd as nbd16; wait boot nbd16 login\n"
     "  expect nbd16.boot.mean within 24 s +-8%\n"
     "  expect nbd16.ok >= 16\n"},
    {"set", "set PATH VALUE", "change a property of a node, port or link",
     "Changes a property while the lab runs: a bond's policy or era, a server's\n"
     "nfsd threads, transmit-ceiling or disk-rate, a port's or link's state, up or\n"
     "down. PATH is node.property, node/port.property or link:A-B.property. It\n"
     "disturbs whoever uses the node, so it is asked about first. In a script, with\n"
     "puts the old value back afterwards.\n"
     "\n"
     "Example:\n"
     "  set slx1/bond0.policy layer2+3\n"
     "  set link:sw2-sw3.state down\n"},
    {"get", "get PATH", "read a property of a node, port or link",
     "Reads a property as the machine has it now, not as the layout has it. PATH\n"
     "is written as for set.\n"
     "\n"
     "Example:\n"
     "  get slx1.nfsd\n"},
    {"pxe", "pxe show|set SETTING VALUE|undo", "read and change the menu that machines boot from",
     "Reads the pxelinux menu on the boot server, with all that it includes, and\n"
     "says what is in force: the default entry, and the entry that a menu nobody\n"
     "touches boots where that is another; how long it waits; its title, whether it\n"
     "has a password, its theme; its entries. Behind each stands the file and line\n"
     "that says so. What is easily taken for something else is told: a TIMEOUT that\n"
     "a later one overrules, a file included twice, in a loop, or not there.\n"
     "\n"
     "pxe set changes one thing that is in force, in the file that says so, and\n"
     "leaves every other byte as it is. Its plan shows the difference; the file as\n"
     "it was stays beside it as NAME.pult-old, and pxe undo gives back what the last\n"
     "set changed. SETTING is\n"
     "  default-entry   the label that boots by itself\n"
     "  timeout         until then, whole tenths of a second; 0 s waits for ever\n"
     "  total-timeout   the same, whatever is pressed\n"
     "  title           in quotes where it has blanks\n"
     "  password        file:PATH or env:NAME that holds it; it is stored hashed\n"
     "  theme           a picture, or a file of colours and measures\n"
     "\n"
     "The layout says where the menu is: boot: {server: NODE, root: DIR}.\n"
     "\n"
     "Example:\n"
     "  pxe set default-entry ubuntu-10.04::nbd\n"
     "  pxe set timeout 10 s\n"},
    {"reserve", "reserve SET until TIME \"WHY\"", "keep seats from being switched by accident",
     "Holds the seats in SET until TIME: 18:00 is the next one on the clock,\n"
     "2026-12-02T18:00 a day's, 90 min a time from now. Until then power and boot\n"
     "leave them out like seats in use and name them, whoever asks, you included;\n"
     "including in-use takes them in all the same. @free has none of them, and\n"
     "beside their numbers stands an L. Reserving again sets another time and why.\n"
     "\n"
     "Reservations outlast the session: every console and script with the same\n"
     "transcript folder heeds them, from reservations-LAB.jsonl there. Only with\n"
     "--jump, where time is not the clock's, do they end with the session, and are\n"
     "those of others not seen.\n"
     "\n"
     "Example:\n"
     "  reserve roomA until 18:00 \"exam, Dr. Weber\"\n"},
    {"release", "release SET", "end reservations",
     "Ends the reservations of the seats in SET before their time, whoever made\n"
     "them. Seats that have none are passed over.\n"
     "\n"
     "Example:\n"
     "  release a[01-06]\n"},
    {"console", "console SET [off]", "show what seats say on their serial lines",
     "Opens the serial consoles of the seats in SET, through whatever carries them:\n"
     "a BMC's serial over LAN, a virtual machine's serial port. From then on their\n"
     "lines stand in the log and in the transcript, also while something else is\n"
     "done. A console that cannot be opened, or is lost, says why there. off closes\n"
     "them again. A BMC has one console: opening it here takes it from whoever has\n"
     "it.\n"
     "\n"
     "Example:\n"
     "  console a07; boot a07; wait boot a07 login\n"
     "  console a07 off\n"},
    {"keys", "keys SET KEY… [including in-use]", "press keys on seats' keyboards",
     "Presses keys on the seats in SET, one after the other, by whatever carries\n"
     "their keyboards: a video switch, PiKVM, a virtual machine's host. A key is\n"
     "named by where it is on a US keyboard: F12, Down, Enter, a, Minus. Several at\n"
     "once have hyphens between, what is held first: Ctrl-Alt-Delete, Shift-F10.\n"
     "\n"
     "It first names the seats it would touch, and how: at once, where a device\n"
     "sends to all its seats, else one by one; how far the last was behind the\n"
     "first is said at the end. Protected nodes get none, seats in use or reserved\n"
     "only with including in-use. Where a device's keys go to the seat it shows,\n"
     "that seat is shown first, and at the end what was there before.\n"
     "The keys of pult's own screen: `pult help bindings`.\n"
     "\n"
     "Example:\n"
     "  keys a[01-17] F12\n"
     "  keys a07 Down Down Enter\n"},
    {"type", "type SET \"TEXT\" [including in-use]", "type a text on seats' keyboards",
     "Types TEXT on the seats in SET, as keys does. While a seat boots, up to its\n"
     "root file system, the keyboard is a US one, as firmware and menus have it;\n"
     "then the one that the layout says its system has, and the plan says when that\n"
     "is German. No Enter follows: send that by keys. What is typed stands in the\n"
     "transcript, so never type a password.\n"
     "\n"
     "Example:\n"
     "  type a07 \"linux single\"; keys a07 Enter\n"},
    {"route", "route NODE|next|back [including in-use]", "show a seat's picture",
     "Has the video switch of a seat show its picture: NODE's, or with next that of\n"
     "the seat behind the one shown last, those in use passed over. back shows what\n"
     "was there before, as often as something was. A seat in use or reserved is not\n"
     "shown to anybody without including in-use.\n"
     "\n"
     "Example:\n"
     "  route a07; route next; route back\n"},
    {"mark", "mark \"TEXT\"", "write a remark into the transcript",
     "Puts a remark of yours between the events: what you saw, what you changed by\n"
     "hand. It stands in the log and in every report. Several words stand in\n"
     "quotes.\n"
     "\n"
     "Example:\n"
     "  mark \"projector switched on, same circuit as row 3\"\n"},
    {"sleep", "sleep DUR", "let time pass",
     "Waits that long in the session's time, whatever happens meanwhile. To wait\n"
     "for something that happens, wait is better.\n"
     "\n"
     "Example:\n"
     "  sleep 30 s\n"},
    {"stop", "stop", "stop all that is under way (Ctrl-C)",
     "Cancels what has not been sent yet, and all waiting and measuring; says how\n"
     "many seats were done, how many not, and which it left between off and on. A\n"
     "load that runs goes on: load stop ends it. Ctrl-C does the same as stop.\n"
     "\n"
     "Example:\n"
     "  stop\n"},
    {"quit", "quit", "end the session",
     "Ends the session and closes its transcript. Machines stay as they are. Loads\n"
     "that run end with it: while there are any the screen says which, and leaves by\n"
     "Q only, which a mark in the transcript tells.\n"
     "\n"
     "Example:\n"
     "  quit\n"},
    {"plan", "plan COMMAND", "show whom a command would touch",
     "Shows the plan of a command that changes power or disturbs others: which\n"
     "seats by which backend, which are protected, in use or reserved. Nothing is\n"
     "carried out, and it works in read-only sessions too.\n"
     "\n"
     "Example:\n"
     "  plan power off @all\n"},
    {"try", "try COMMAND", "go on in a script even if it fails",
     "A command of a script that fails, times out or succeeds only in part ends the\n"
     "script. With try before it the script goes on. What happened is recorded just\n"
     "the same. An expectation with try only compares: it is told, not counted.\n"
     "\n"
     "Example:\n"
     "  try wait boot nbd16 login timeout 90 s\n"},
    {"layout", "layout NAME|FILE", "name the lab a script is for (scripts)",
     "Stands first in a script: the layout it is written for, shipped by name or a\n"
     "file. --layout on the command line wins.\n"
     "\n"
     "Example:\n"
     "  layout openslx-one-room\n"},
    {"foreach", "foreach NAME in WORD…|INT..INT [order given|random|interleaved] do COMMANDS end",
     "run commands for each of several words (scripts)",
     "Runs the commands down to end once for each word, with $NAME or ${NAME}\n"
     "standing for it, also inside quotes; \\$ is a plain dollar. 01..17 counts with\n"
     "leading zeros, 5..1 counts down.\n"
     "\n"
     "order random shuffles by the session's seed, anew for each pass of a\n"
     "surrounding block. order interleaved goes forwards and backwards in turn, one\n"
     "pass each (a b c, c b a, …), so that a slow drift falls on all words alike;\n"
     "it needs a repeat or foreach around it.\n"
     "\n"
     "Example:\n"
     "  foreach image in nfs nbd do\n"
     "    boot roomA entry ubuntu-10.04::$image as $image\n"
     "    wait boot $image login\n"
     "  end\n"},
    {"repeat", "repeat INT do COMMANDS end", "run commands several times (scripts)",
     "Runs the commands down to end that many times. A label used again gathers\n"
     "runs: below six there is no distribution-free 95 % interval of a median.\n"
     "\n"
     "Example:\n"
     "  repeat 6 do\n"
     "    boot roomA cold as nfs16; wait boot nfs16 login\n"
     "  end\n"},
    {"with", "with PATH VALUE do COMMANDS end", "change a property for a while (scripts)",
     "Reads a property, sets it, runs the commands down to end, and puts the old\n"
     "value back whatever happens: when a command fails, and on Ctrl-C too.\n"
     "\n"
     "Example:\n"
     "  with slx1/bond0.policy layer3+4 do\n"
     "    load start find-cat on roomA for 60 s as hashed; wait load hashed\n"
     "  end\n"},
    {NULL, NULL, NULL, NULL},
};

char *
command_help_table(void)
{
  g_autoptr(GString) out = g_string_new(NULL);
  for (const VerbInfo *verb = command_verbs; verb->name != NULL; verb++)
    g_string_append_printf(out, "%-9s %s\n", verb->name, verb->summary);
  return g_string_free(g_steal_pointer(&out), FALSE);
}

/* The length of TEXT's first piece that is not to be broken: a word, or what stands in [brackets].
 */
static gsize
piece_length(const char *text)
{
  gsize n = 0;
  for (int depth = 0; text[n] != 0 && (text[n] != ' ' || depth > 0); n++)
    depth += text[n] == '[' ? 1 : text[n] == ']' ? -1 : 0;
  return n;
}

/* One form of a synopsis, broken between pieces, what follows the first line indented. */
static void
append_form(GString *out, const char *form, gsize length, guint indent)
{
  const char *end = form + length;
  glong column = 0;
  while (form < end) {
    gsize n = MIN(piece_length(form), (gsize)(end - form));
    glong width = g_utf8_strlen(form, (gssize)n);
    if (column > 0 && column + 1 + width > COLUMNS) {
      g_string_append_printf(out, "\n%*s", (int)indent, "");
      column = indent;
    } else if (column > 0) {
      g_string_append_c(out, ' ');
      column++;
    }
    g_string_append_len(out, form, (gssize)n);
    column += width;
    form += n;
    while (form < end && *form == ' ')
      form++;
  }
  g_string_append_c(out, '\n');
}

/* `load start … | load stop …`: each form in lines of its own. */
static void
append_synopsis(GString *out, const VerbInfo *info)
{
  g_autofree char *between = g_strdup_printf(" | %s ", info->name);
  const char *form = info->synopsis;
  guint indent = (guint)strlen(info->name) + 1;
  for (const char *next; (next = strstr(form, between)) != NULL; form = next + strlen(" | "))
    append_form(out, form, (gsize)(next - form), indent);
  append_form(out, form, strlen(form), indent);
}

char *
command_help(const char *verb)
{
  const VerbInfo *info = command_verbs;
  while (info->name != NULL && !g_str_equal(info->name, verb))
    info++;
  if (info->name == NULL)
    return NULL;
  g_autoptr(GString) out = g_string_new(NULL);
  append_synopsis(out, info);
  g_string_append_printf(out, "\n%s", info->help);
  return g_string_free(g_steal_pointer(&out), FALSE);
}
