/* Private to ui/: the state of the screen, and what a view is. */
#ifndef PULT_UI_VIEW_H
#define PULT_UI_VIEW_H

#include "ui/prompt.h"
#include "ui/ui.h"

typedef struct {
  int row, column, rows, columns;
} Area;

typedef enum {
  MOVE_UP,
  MOVE_DOWN,
  MOVE_LEFT,
  MOVE_RIGHT,
  MOVE_PAGE_UP,
  MOVE_PAGE_DOWN,
  MOVE_HOME,
  MOVE_END,
} Move;

typedef struct {
  const char *name;  /* `lab`: for --view */
  const char *about; /* for Help */
  void (*draw)(Ui *ui, Canvas *canvas, Area area);
  void (*move)(Ui *ui, Move move);
} View;

extern const View view_help, view_lab, view_boot, view_load, view_net, view_log, view_card;

typedef enum {
  VIEW_HELP,
  VIEW_LAB,
  VIEW_BOOT,
  VIEW_LOAD,
  VIEW_NET,
  VIEW_LOG,
  VIEW_CARD, /* of the selected seat; the last */
  VIEW_N,
} ViewIndex;

typedef enum {
  SPOT_SEAT,  /* value: its NodeId */
  SPOT_BLOCK, /* its index in ui->rooms */
  SPOT_KEY,   /* a UiKey, as good as pressed */
} SpotKind;

/* Where a click means something. */
typedef struct {
  int row, column, columns;
  SpotKind kind;
  guint value;
} Spot;

#define NOTHING_SAID G_MAXUINT64
#define NOTHING_FOUND G_MAXUINT64

struct Ui {
  const CoreState *state;
  const HostOps *ops;
  gpointer host;
  HostStatus status; /* as last drawn with */
  ViewIndex view;
  ViewIndex from[VIEW_N]; /* where Help and a card were called from */
  guint n_rooms;
  LayoutRoom *rooms;        /* the layout's, and one for machines that stand in none */
  char *elsewhere;          /* name of that one: a node set */
  NodeId *outside;          /* its seats */
  guint room;               /* the block in focus */
  NodeId selected;          /* a seat of it; NODE_NONE: the whole block */
  gboolean bytes;           /* MB/s instead of Mbit/s */
  double full_scale;        /* bit/s of a seat's full bar, as of this drawing */
  gboolean *link_leads_out; /* by link: from a server to the seats, as its layout names its ends */
  gboolean too_small;       /* as last drawn: nothing is shown, so no key acts */
  gboolean touched;         /* some key was pressed: who did needs no hint */
  GArray *spots;        /* of Spot, as last shown: what the operator sees is what a click is for */
  GArray *spots_before; /* of the drawing before the last */
  int pointed_row, pointed_column;
  int scroll[VIEW_N];
  int page;            /* rows a page key moves, as last drawn */
  int whatif_era;      /* BondEra that Net's table is for; -1: the bond's own */
  int boot_back;       /* runs back from the latest */
  gboolean quit_asked; /* the last key was Q, and loads run */
  int load_back;
  Prompt *line, *consent; /* the `:` line; the number for a command that asks */
  Prompt *find;           /* the `/` line */
  Prompt *place;          /* the line for where a replay is to go */
  char *wanted;           /* what was looked for last; NULL */
  guint64 found;          /* the log entry found; NOTHING_FOUND */
  guint32 consent_open;   /* the pending command CONSENT is open for; 0 none */
  guint32 consent_left;   /* the one that was answered, or left */
  char number[8];         /* digits typed towards a seat */
  guint64 said_at;        /* log entry that the last line said begins with; NOTHING_SAID */
  gint64 said_t;
  char *said_path; /* the property that it reads or sets; NULL */
  char *message;
  Severity message_severity;
};

/* ui.c */
gint64 ui_now(const Ui *ui); /* session time, ns, between events too */
extern const View *const ui_views[VIEW_N];
gboolean ui_asks_consent(const Ui *ui);
/* Moves the view's scroll; BACKWARDS: it counts from the end. */
void ui_scroll(Ui *ui, Move move, gboolean backwards);

/* select.c: blocks, seats, and which is in focus. */
void select_init(Ui *ui);
void select_clear(Ui *ui);
const LayoutRoom *ui_room(const Ui *ui);           /* NULL in a lab without clients */
void ui_select(Ui *ui, NodeId seat);               /* and its block */
void ui_select_block(Ui *ui, guint room);          /* the whole of it */
void ui_select_number(Ui *ui, char digit);         /* seat of the block by its number */
int ui_place(const LayoutRoom *room, NodeId seat); /* -1: not in that room */
/* `@all`, a room's or block's name where it is one, else folded: `a[01-03]`. */
char *ui_set_name(const Ui *ui, const NodeId *nodes, guint n);
char *ui_fold(const Ui *ui, const NodeId *nodes, guint n);
const char *ui_selection(const Ui *ui);    /* as a node set */
const char *seat_number(const char *name); /* the digits it ends with, or all of it */

/* bindings.c: the one table of keys. */
gboolean bindings_press(Ui *ui, UiKey key);
void bindings_draw_bar(const Ui *ui, Canvas *canvas, int row);
guint bindings_count(void);
/* The I-th binding for a person: its keys, and what they do and in which views if not in all. Free
 * with g_free. */
char *bindings_describe(guint i, const char **keys);

/* press.c: what the keys do. */
void press_view(Ui *ui, UiKey key);
void press_whatif(Ui *ui, UiKey key);
void press_back(Ui *ui, UiKey key);
void press_quit(Ui *ui, UiKey key);
gboolean press_leave(Ui *ui, UiKey key); /* the answer to what it asks; FALSE: KEY is none */
gboolean press_quit_asks(const Ui *ui);  /* loads run, which would end with the console */
void press_card(Ui *ui, UiKey key);
void press_find(Ui *ui, UiKey key);
void press_find_again(Ui *ui, UiKey key);
void press_prompt(Ui *ui, UiKey key);
void press_boot(Ui *ui, UiKey key);
void press_load(Ui *ui, UiKey key);
void press_power(Ui *ui, UiKey key);
void press_cycle(Ui *ui, UiKey key);
void press_next_block(Ui *ui, UiKey key);
void press_whole_block(Ui *ui, UiKey key);
void press_digit(Ui *ui, UiKey key);
void press_unit(Ui *ui, UiKey key);
void press_theme(Ui *ui, UiKey key);
void press_pause(Ui *ui, UiKey key);
void press_speed(Ui *ui, UiKey key);
void press_seek(Ui *ui, UiKey key);
void press_step(Ui *ui, UiKey key);
void press_mark(Ui *ui, UiKey key);
void press_go(Ui *ui, UiKey key);
void press_stop(Ui *ui, UiKey key);
void press_suspend(Ui *ui, UiKey key);
void press_move(Ui *ui, UiKey key);

void press_click(Ui *ui, UiKey key);
void press_wheel(Ui *ui, UiKey key);

/* mouse.c: those two, and what a click on some cells of what is being drawn is for. */
void spot_mark(const Ui *ui, int row, int column, int columns, SpotKind kind, guint value);

/* answer.c: what came of the line said last. */
void answer_await(Ui *ui, const char *line);
void answer_forget(Ui *ui);
const LogEntry *answer_entry(const Ui *ui); /* NULL: nothing worth telling */

/* frame.c: what stands around every view. */
void frame_draw_header(const Ui *ui, Canvas *canvas);
/* Draws it upwards from ROW and returns the rows it took. */
int frame_draw_sentence(const Ui *ui, Canvas *canvas, int row);
void frame_draw_prompt(const Ui *ui, Canvas *canvas, int row);
/* A heading across the area: `─ title ───── right ─`. */
void frame_draw_rule(Canvas *canvas, int row, int column, int columns, Style style,
                     const char *title, Style right_style, const char *right);
/* The same across a box, from border to border. */
void frame_draw_heading(Canvas *canvas, Area area, int row, Style style, const char *title,
                        Style right_style, const char *right);
void frame_draw_box(Canvas *canvas, Area area);
Style frame_severity_style(Severity severity);

/* text.c: text in few columns. */
/* Lines of at most COLUMNS, broken at blanks, else within a word; at least one. */
GPtrArray *text_wrap(const char *text, int columns);
/* NAME in at most COLUMNS: names of one room differ at their end, so that is what is kept. */
char *text_tail(const Canvas *canvas, const char *name, int columns);
/* Columns for the names of N nodes, at most MOST. */
int text_names_width(const Layout *layout, const NodeId *nodes, guint n, int most);

/* seats.c: one seat in few cells. */
const char *seat_tile(const Ui *ui, const Canvas *canvas, NodeId id, Style *style);
const char *seat_word(const Ui *ui, NodeId id, Style *style); /* `root`, `up`, `off` */
const char *outcome_word(SeatOutcome outcome, Style *style);  /* of a load: `runs` */
/* What it receives, by its own counters, or while those are not there by its server's connections;
 * NULL: no meter. */
const Meter *seat_meter(const Ui *ui, NodeId id);
double seats_full_scale(const Ui *ui); /* bit/s of a full bar */
/* The bond port that serves it, in 2 columns: `e0`; "" when there is none. */
void seat_port(const Ui *ui, NodeId id, char out[8]);

/* rates.c: figures of meters. */
/* `no meter`, `stale 7 s`; NULL when it can be shown. */
char *stale_text(const Ui *ui, const Meter *meter);
/* bit/s in the unit of the screen, no decimals unless they matter. */
char *rate_text(const Ui *ui, double rate);
const char *rate_unit(const Ui *ui);
gboolean rate_is_full(double rate, double capacity); /* as good as full */
/* A meter's last minute, flush right; a cell is the mean of as few seconds as have room. */
void rate_draw_history(Canvas *canvas, int row, int column, int columns, const Meter *meter,
                       double capacity);

/* traffic.c: both directions of what a seat, a port or a link carries. */
typedef struct {
  double down, up;    /* bit/s to the seats, and from them; -1: not known now */
  gboolean goes_up;   /* most of it, and enough to be seen */
  const Meter *meter; /* of the direction to show; NULL: no meter */
} Traffic;
Traffic traffic_of_seat(const Ui *ui, NodeId id);
Traffic traffic_of_port(const Ui *ui, NodeId server, guint port);
Traffic traffic_of_link(const Ui *ui, guint link);
gboolean traffic_goes_up(double down, double up);
void traffic_add(double *sum, double rate); /* -1 in both: not known */
/* What stands behind a figure: `↑` when it goes up, else "". */
const char *traffic_sign(const Canvas *canvas, gboolean goes_up);
/* What a link of SPEED (bit/s) is drawn with: a double line when it is fast. */
const char *link_line(gboolean ascii, double speed);
/* By link: whether it leads from a server on. Free with g_free. */
gboolean *traffic_links_out(const Layout *layout);

/* bars.c: rows of bars, seats of a room; returns the rows it took. */
int bars_draw(const Ui *ui, Canvas *canvas, Area area, guint room);
/* plan.c: rooms as seat plans. */
void plan_draw(const Ui *ui, Canvas *canvas, Area area);
int plan_height(const Ui *ui, int columns); /* rows that show every room whole */
int plan_width(const Ui *ui);               /* columns that show every row of seats whole */
/* server.c: ports, totals, links of a server. */
void server_draw(const Ui *ui, Canvas *canvas, Area area);
int server_height(const Layout *layout);
/* `nfsd 18/64   load 3.1   disk 2 %`. Free with g_free. */
char *server_figures_text(const Ui *ui, const LayoutNode *node);

/* whatif.c: the same seats under another hash. */
#define WHATIF_MAX_PORTS 16
typedef struct {
  guint n_ports;
  guint seats[WHATIF_MAX_PORTS]; /* by place in the bond */
  guint n_unplaced;              /* seats whose port cannot be told */
  double total;                  /* bit/s, if all of them read */
  char *full;                    /* names of what is full then */
} WhatIf;
/* Of SERVER's first bond. Counts its clients that are on, or all when none is. */
void whatif_compute(const Ui *ui, NodeId server, BondPolicy policy, BondEra era, WhatIf *result);
void whatif_clear(WhatIf *result);
guint whatif_seats(const Ui *ui, NodeId server, gboolean *on);
/* whatif_table.c */
char *whatif_seats_text(const WhatIf *result, gboolean ascii); /* `16 · 2 · 14 · 2` */
int whatif_rows(const Ui *ui);                                 /* 0: no bond of this lab hashes */
void whatif_draw(const Ui *ui, Canvas *canvas, Area area);
/* log.c: the entries before END that concern ONLY (NODE_NONE: all), the newest last. */
void log_draw_tail(const Ui *ui, Canvas *canvas, Area area, NodeId only, guint64 end);

/* rows.c: lists with a row a seat. */
typedef struct {
  const NodeId *first; /* of an array of structs */
  gsize stride;
  guint n;
} SeatRows;
int rows_names_width(const Ui *ui, const SeatRows *seats, int most);
/* The first row to show, so that the selected seat is among SHOWN rows. */
int rows_scroll(Ui *ui, const SeatRows *seats, int shown);
/* `1-17 of 34`; "" when all are shown. */
char *rows_range_text(const SeatRows *seats, int first, int shown);
void rows_move(Ui *ui, const SeatRows *seats, Move move);

/* find.c */
void find_text(Ui *ui, const char *text);
void find_again(Ui *ui, gboolean back);

#endif
