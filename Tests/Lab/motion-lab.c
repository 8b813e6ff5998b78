/*
 * motion-lab: make a Linux guest look as if motion sensors were soldered to it.
 *
 * It does two things, either of which may be left out:
 *
 *  1. Through /dev/uhid it registers one virtual HID sensor hub carrying an
 *     accelerometer, gyroscope, magnetometer, barometer, thermometer and a
 *     rotation (quaternion) sensor. The kernel's own hid-sensor-* IIO drivers
 *     bind to it, so what user space sees (scan elements, triggers, buffers,
 *     sampling_frequency, ...) is produced by real driver code. The hub obeys
 *     the driver: reports flow only while a sensor is powered, at the interval
 *     the driver wrote into the feature report.
 *
 *  2. Through /dev/i2c-N it keeps refreshing the data registers of chips
 *     emulated by i2c-stub, so that register-level drivers read moving values.
 *
 * Values come from a built-in motion model, from a CSV recording, or from
 * whoever is connected to the TCP control port. See the command list in
 * control_line().
 *
 * CSV: one row per instant, first column seconds from the start, then any
 * leading part of: ax ay az (m/s^2) gx gy gz (rad/s) mx my mz (microtesla)
 * pressure (Pa) temperature (degC) qx qy qz qw. Lines not starting with a
 * digit are skipped. Rows are held (not interpolated) and the file loops.
 *
 * Reports carry a device time stamp (the instant the sample was due), so that
 * streams look evenly spaced however late the guest runs. With -k the kernel
 * stamps on arrival wherever its driver can, jitter and all.
 *
 * Usage: motion-lab [-c file.csv] [-i /dev/i2c-N] [-p control_port] [-k] [-v]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <linux/uhid.h>
#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define NCOL 15 /* 3 accel, 3 gyro, 3 magn, pressure, temperature, 4 quaternion */
enum { COL_ACCEL = 0, COL_GYRO = 3, COL_MAGN = 6, COL_PRESS = 9, COL_TEMP = 10, COL_QUAT = 11 };

static int verbose, kernel_stamps;
static int64_t now_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---------------------------------------------------------------- motion */

static double held[NCOL] = { 0, 0, 9.80665, 0, 0, 0, 0, 22, -42, 101325, 25, 0, 0, 0, 1 };
static double *csv; /* rows of 1 + NCOL numbers */
static size_t csv_rows;
static enum { SYNTH, CSV, HOLD } mode = SYNTH;
static int64_t t0;
static int64_t to_realtime; /* fixed at the start: device clocks do not jump */

/* A body that slowly turns, rolls and pitches, shakes a little and bobs up
 * and down. Axes: world is east-north-up; all outputs are in the body frame
 * and mutually consistent, so that attitude filters can be tried on them. */
static void synth(double t, double v[NCOL])
{
	const double w1 = 2 * M_PI * 0.20, w2 = 2 * M_PI * 0.13, yawrate = 0.3;
	double roll = 0.35 * sin(w1 * t), droll = 0.35 * w1 * cos(w1 * t);
	double pitch = 0.25 * sin(w2 * t), dpitch = 0.25 * w2 * cos(w2 * t);
	double yaw = fmod(yawrate * t, 2 * M_PI);
	double cr = cos(roll), sr = sin(roll), cp = cos(pitch), sp = sin(pitch);
	double cy = cos(yaw), sy = sin(yaw);
	double shake = 0.5 * sin(2 * M_PI * 1.0 * t);
	/* rows of the world-to-body rotation */
	double b[3][3] = {
		{ cp * cy, cp * sy, -sp },
		{ sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp },
		{ cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp },
	};
	const double f[3] = { shake, 0, 9.80665 }, m[3] = { 0, 22, -42 };
	double c2 = cos(roll / 2), s2 = sin(roll / 2), c1 = cos(pitch / 2), s1 = sin(pitch / 2);
	double c0 = cos(yaw / 2), s0 = sin(yaw / 2);

	for (int i = 0; i < 3; i++) {
		v[COL_ACCEL + i] = b[i][0] * f[0] + b[i][1] * f[1] + b[i][2] * f[2];
		v[COL_MAGN + i] = b[i][0] * m[0] + b[i][1] * m[1] + b[i][2] * m[2];
	}
	v[COL_GYRO + 0] = droll - yawrate * sp;
	v[COL_GYRO + 1] = dpitch * cr + yawrate * cp * sr;
	v[COL_GYRO + 2] = -dpitch * sr + yawrate * cp * cr;
	v[COL_PRESS] = 101325 - 12.0 * sin(2 * M_PI * 0.05 * t);
	v[COL_TEMP] = 25 + 0.5 * sin(2 * M_PI * 0.01 * t);
	v[COL_QUAT + 0] = s2 * c1 * c0 - c2 * s1 * s0;
	v[COL_QUAT + 1] = c2 * s1 * c0 + s2 * c1 * s0;
	v[COL_QUAT + 2] = c2 * c1 * s0 - s2 * s1 * c0;
	v[COL_QUAT + 3] = c2 * c1 * c0 + s2 * s1 * s0;
}

static void motion(int64_t at, double v[NCOL])
{
	double t = (at - t0) / 1e9;

	if (mode == SYNTH) {
		synth(t, v);
	} else if (mode == CSV && csv_rows) {
		double span = csv[(csv_rows - 1) * (NCOL + 1)] - csv[0];
		size_t lo = 0, hi = csv_rows;

		t = csv[0] + (span > 0 ? fmod(t, span) : 0);
		while (hi - lo > 1) {
			size_t mid = (lo + hi) / 2;
			if (csv[mid * (NCOL + 1)] <= t)
				lo = mid;
			else
				hi = mid;
		}
		memcpy(v, &csv[lo * (NCOL + 1) + 1], sizeof(double) * NCOL);
	} else {
		memcpy(v, held, sizeof(held));
	}
}

static void load_csv(const char *path)
{
	char line[1024];
	size_t cap = 0;
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		char *p = line, *e;
		double *row;

		if (*p < '0' || *p > '9')
			continue;
		if (csv_rows == cap) {
			cap = cap ? cap * 2 : 1024;
			csv = realloc(csv, cap * (NCOL + 1) * sizeof(double));
			if (!csv)
				exit(1);
		}
		row = &csv[csv_rows++ * (NCOL + 1)];
		row[0] = 0;
		memcpy(row + 1, held, sizeof(held));
		for (int i = 0; i <= NCOL; i++) {
			double d = strtod(p, &e);
			if (e == p)
				break;
			row[i] = d;
			p = e + strspn(e, ",; \t");
		}
	}
	fclose(f);
	if (csv_rows)
		mode = CSV;
	fprintf(stderr, "motion-lab: %zu rows from %s\n", csv_rows, path);
}

/* ------------------------------------------------------------ HID sensors */

/*
 * One entry per sensor; the report id is its index plus one. "lsb" is the
 * physical size of one count in our own units (see NCOL above) and must agree
 * with unit and exponent, from which the kernel computes the IIO scale:
 *   accel   g,      10^-4 -> scale 0.000980665 (m/s^2)
 *   gyro    deg/s,  10^-3 -> scale 0.000017453 (rad/s)
 *   magn    (mG),   10^-1 -> scale 0.0001      (gauss), only 16 bits wide
 *   press   Pa,     10^-2 -> scale 0.00001     (kPa)
 *   temp    degC,   10^-2 -> scale 10          (millidegrees)
 *   rot     none,   10^-4 -> scale 0.0001, 4 x 16 bits in one channel
 */
struct sensor {
	const char *name;
	uint16_t usage, axis; /* HID usages on page 0x20; axis is the first of them */
	uint8_t naxes, bits, as_one_field, stamped; /* stamped 2: even with -k */
	uint32_t unit;
	int8_t exponent;
	int col;
	double lsb;
	/* state written by the driver through the feature report */
	uint8_t report_state, power_state;
	uint32_t interval_ms;
	uint16_t sensitivity;
	/* ours */
	uint32_t interval_us; /* non-zero: overrides interval_ms */
	int muted;
	int64_t due;
	uint64_t sent, late;
};

#define DEG (M_PI / 180)
static struct sensor sensors[] = {
	{ "accel_3d", 0x73, 0x453, 3, 32, 0, 1, 0x1A, -4, COL_ACCEL, 9.80665e-4 },
	{ "gyro_3d", 0x76, 0x457, 3, 32, 0, 1, 0x15, -3, COL_GYRO, 1e-3 * DEG },
	/* without a time stamp field in its report, the 6.1 magn driver offers no
	 * time stamp channel */
	{ "magn_3d", 0x83, 0x485, 3, 16, 0, 2, 0, -1, COL_MAGN, 1e-2 },
	/* the 6.1 press driver never re-arms its software time stamp, so this
	 * sensor has to bring its own: a 64-bit count of nanoseconds */
	{ "press", 0x31, 0x431, 1, 32, 0, 2, 0xF1E1, -2, COL_PRESS, 1e-2 },
	/* this driver takes no time stamp from the device */
	{ "temperature", 0x33, 0x434, 1, 16, 0, 0, 0, -2, COL_TEMP, 1e-2 },
	{ "dev_rotation", 0x8A, 0x483, 4, 16, 1, 1, 0, -4, COL_QUAT, 1e-4 },
};
#define NSENSORS ((int)(sizeof(sensors) / sizeof(sensors[0])))
#define STATE_ALL_EVENTS 2 /* second usage in the reporting-state list */
#define DEFAULT_MS 10      /* report interval after power-on */
#define POWER_D0 2         /* second usage in the power-state list */

static uint8_t rd[4096];
static size_t rdlen;

/* Append one short item. kind: tag and type bits; size chosen from "n". */
static void item(uint8_t kind, int64_t value, int n)
{
	rd[rdlen++] = kind | (n == 4 ? 3 : n);
	for (int i = 0; i < n; i++)
		rd[rdlen++] = value >> (8 * i);
}
#define USAGE_PAGE(v) item(0x04, v, 1)
#define USAGE(v) item(0x08, v, 2)
#define COLLECTION(v) item(0xA0, v, 1)
#define END_COLLECTION() item(0xC0, 0, 0)
#define REPORT_ID(v) item(0x84, v, 1)
#define LOGICAL(lo, hi) (item(0x14, lo, 4), item(0x24, hi, 4))
#define UNIT(u, e) (item(0x64, u, 4), item(0x54, (e) & 15, 1))
#define SIZE(bits, n) (item(0x74, bits, 1), item(0x94, n, 1))
#define INPUT() item(0x80, 2, 1)     /* data, variable, absolute */
#define FEATURE() item(0xB0, 2, 1)   /* data, variable, absolute */
#define FEATURE_ARRAY() item(0xB0, 0, 1)

static void selector(uint16_t property, uint16_t first, int n)
{
	UNIT(0, 0);
	LOGICAL(1, n);
	SIZE(8, 1);
	USAGE(property);
	COLLECTION(2); /* logical */
	for (int i = 0; i < n; i++)
		USAGE(first + i);
	FEATURE_ARRAY();
	END_COLLECTION();
}

static void build_descriptor(void)
{
	USAGE_PAGE(0x20); /* sensors */
	USAGE(0x01);      /* sensor collection */
	COLLECTION(1);    /* application */
	for (int i = 0; i < NSENSORS; i++) {
		struct sensor *s = &sensors[i];
		int64_t top = (1LL << (s->bits - 1)) - 1;

		s->stamped = s->stamped > kernel_stamps;
		USAGE_PAGE(0x20);
		USAGE(s->usage);
		COLLECTION(0); /* physical: one per sensor */
		REPORT_ID(i + 1);
		selector(0x316, 0x840, 6); /* reporting state */
		selector(0x319, 0x850, 6); /* power state */
		UNIT(0, 0);
		LOGICAL(0, 0x7fffffff);
		SIZE(32, 1);
		USAGE(0x30E); /* report interval, ms */
		FEATURE();
		UNIT(s->unit, s->exponent);
		LOGICAL(0, 0xffff);
		SIZE(16, 1);
		USAGE(0x30F); /* change sensitivity, absolute */
		FEATURE();

		if (s->stamped) {
			UNIT(0x19, -6); /* milliseconds x 10^-6 */
			LOGICAL(0, 0x7fffffff);
			SIZE(32, 2);
			USAGE(0x529); /* time stamp */
			INPUT();
		}
		UNIT(s->unit, s->exponent);
		LOGICAL(-top - 1, top);
		if (s->as_one_field) {
			SIZE(s->bits, s->naxes);
			USAGE(s->axis);
			INPUT();
		} else {
			SIZE(s->bits, 1);
			for (int a = 0; a < s->naxes; a++) {
				USAGE(s->axis + a);
				INPUT();
			}
		}
		END_COLLECTION();
	}
	END_COLLECTION();
}

static int uhid = -1;

static int put(struct uhid_event *ev, size_t payload)
{
	ssize_t n = write(uhid, ev, sizeof(ev->type) + payload);

	if (n < 0)
		perror("motion-lab: uhid write");
	return n < 0;
}

/* The report for one instant ("at", monotonic): also when it is sent late, its
 * values and time stamp are those of the instant it was due. */
static size_t input_report(struct sensor *s, uint8_t *out, int64_t at)
{
	double v[NCOL];
	size_t n = 0;

	motion(at, v);
	out[n++] = s - sensors + 1;
	if (s->stamped) {
		int64_t ts = at + to_realtime;
		memcpy(out + n, &ts, 8);
		n += 8;
	}
	for (int a = 0; a < s->naxes; a++) {
		double top = ldexp(1, s->bits - 1) - 1;
		double c = nearbyint(v[s->col + a] / s->lsb);
		int32_t raw = fmax(-top - 1, fmin(top, c));

		memcpy(out + n, &raw, s->bits / 8); /* little endian */
		n += s->bits / 8;
	}
	return n;
}

static size_t feature_report(struct sensor *s, uint8_t *out)
{
	out[0] = s - sensors + 1;
	out[1] = s->report_state;
	out[2] = s->power_state;
	memcpy(out + 3, &s->interval_ms, 4);
	memcpy(out + 7, &s->sensitivity, 2);
	return 9;
}

static int active(struct sensor *s)
{
	return !s->muted && s->power_state == POWER_D0 && s->report_state == STATE_ALL_EVENTS;
}

static int64_t period_ns(struct sensor *s)
{
	int64_t p = s->interval_us ? s->interval_us * 1000LL : s->interval_ms * 1000000LL;

	return p > 0 ? p : 1000000;
}

static void uhid_start(void)
{
	struct uhid_event ev = { .type = UHID_CREATE2 };

	uhid = open("/dev/uhid", O_RDWR | O_CLOEXEC);
	if (uhid < 0) {
		perror("motion-lab: /dev/uhid");
		return;
	}
	if (!rdlen)
		build_descriptor();
	for (int i = 0; i < NSENSORS; i++) { /* power-on defaults: off, 100 Hz */
		sensors[i].report_state = 1;
		sensors[i].power_state = 1;
		sensors[i].interval_ms = DEFAULT_MS;
		sensors[i].sensitivity = 0;
	}
	snprintf((char *)ev.u.create2.name, sizeof(ev.u.create2.name), "Virtual sensor hub");
	memcpy(ev.u.create2.rd_data, rd, rdlen);
	ev.u.create2.rd_size = rdlen;
	ev.u.create2.bus = 0x18; /* BUS_I2C, as in laptops and tablets */
	ev.u.create2.vendor = 0x1209;
	ev.u.create2.product = 0x0001;
	if (put(&ev, sizeof(ev.u.create2))) {
		close(uhid);
		uhid = -1;
	}
}

static void uhid_event(void)
{
	struct uhid_event ev, re;
	struct sensor *s;
	int rnum;

	if (read(uhid, &ev, sizeof(ev)) < 0)
		return;
	memset(&re, 0, sizeof(re));
	switch (ev.type) {
	case UHID_GET_REPORT:
		rnum = ev.u.get_report.rnum;
		re.type = UHID_GET_REPORT_REPLY;
		re.u.get_report_reply.id = ev.u.get_report.id;
		if (rnum < 1 || rnum > NSENSORS) {
			re.u.get_report_reply.err = EIO;
		} else {
			s = &sensors[rnum - 1];
			re.u.get_report_reply.size = ev.u.get_report.rtype == UHID_INPUT_REPORT ?
				input_report(s, re.u.get_report_reply.data, now_ns(CLOCK_MONOTONIC)) :
				feature_report(s, re.u.get_report_reply.data);
		}
		put(&re, sizeof(re.u.get_report_reply));
		break;
	case UHID_SET_REPORT:
		rnum = ev.u.set_report.rnum;
		re.type = UHID_SET_REPORT_REPLY;
		re.u.set_report_reply.id = ev.u.set_report.id;
		if (rnum < 1 || rnum > NSENSORS || ev.u.set_report.size < 9) {
			re.u.set_report_reply.err = EIO;
		} else {
			uint8_t *d = ev.u.set_report.data;
			int was, is;

			s = &sensors[rnum - 1];
			was = active(s);
			s->report_state = d[1];
			s->power_state = d[2];
			memcpy(&s->interval_ms, d + 3, 4);
			if (!s->interval_ms) /* zero asks for the default */
				s->interval_ms = DEFAULT_MS;
			memcpy(&s->sensitivity, d + 7, 2);
			is = active(s);
			if (is && !was)
				s->due = now_ns(CLOCK_MONOTONIC) + period_ns(s);
			if (verbose)
				fprintf(stderr, "motion-lab: %s report=%d power=%d interval=%u ms sensitivity=%u\n",
					s->name, s->report_state, s->power_state, s->interval_ms, s->sensitivity);
		}
		put(&re, sizeof(re.u.set_report_reply));
		break;
	default:
		break;
	}
}

/* Send whatever is due; returns the next deadline (0: none). */
static int64_t uhid_tick(void)
{
	int64_t next = 0, now = now_ns(CLOCK_MONOTONIC);

	if (uhid < 0)
		return 0;
	for (int i = 0; i < NSENSORS; i++) {
		struct sensor *s = &sensors[i];

		if (!active(s))
			continue;
		/* a late wake-up catches up: the number of reports stays true
		 * to the rate, up to a quarter of a second */
		if (now - s->due > 250000000) {
			s->late += (now - s->due) / period_ns(s);
			s->due = now;
		}
		while (s->due <= now) {
			struct uhid_event ev = { .type = UHID_INPUT2 };

			ev.u.input2.size = input_report(s, ev.u.input2.data, s->due);
			put(&ev, offsetof(struct uhid_input2_req, data) + ev.u.input2.size);
			s->due += period_ns(s);
			s->sent++;
		}
		if (!next || s->due < next)
			next = s->due;
	}
	return next;
}

/* ------------------------------------------------------- i2c-stub registers */

static int i2c = -1;

/* Write n consecutive registers in one transfer, so that the drivers never see
 * half of an old value and half of a new one. */
static void regs(int addr, uint8_t first, const uint8_t *bytes, int n)
{
	union i2c_smbus_data d;
	struct i2c_smbus_ioctl_data a = { I2C_SMBUS_WRITE, first, I2C_SMBUS_I2C_BLOCK_DATA, &d };

	if (i2c < 0)
		return;
	d.block[0] = n;
	memcpy(d.block + 1, bytes, n);
	if (ioctl(i2c, I2C_SLAVE_FORCE, addr) < 0 || ioctl(i2c, I2C_SMBUS, &a) < 0) {
		perror("motion-lab: i2c");
		close(i2c);
		i2c = -1;
	}
}

static int count(double value, double lsb, int top)
{
	return nearbyint(fmax(-top - 1, fmin(top, value / lsb)));
}

static void put16(uint8_t *p, int v, int big_endian)
{
	p[big_endian] = v;
	p[!big_endian] = v >> 8;
}

/* Full-scale settings are those iio-lab wrote before binding the drivers. */
static void i2c_tick(void)
{
	double v[NCOL];
	uint8_t bmi[12], hmc[6], lis[6], lps[5], bmp[3];
	int p;

	motion(now_ns(CLOCK_MONOTONIC), v);
	for (int a = 0; a < 3; a++) {
		/* BMI160: gyro from 0x0C (2000 deg/s), accel from 0x12 (4 g) */
		put16(bmi + 2 * a, count(v[COL_GYRO + a], 2000 * DEG / 32768, 32767), 0);
		put16(bmi + 6 + 2 * a, count(v[COL_ACCEL + a], 4 * 9.80665 / 32768, 32767), 0);
		/* HMC5843: big endian, 1300 counts per gauss */
		put16(hmc + 2 * a, count(v[COL_MAGN + a], 100 / 1300.0, 2047), 1);
		/* LIS3DH: 12 bits, left-aligned, 1 mg per count */
		put16(lis + 2 * a, count(v[COL_ACCEL + a], 9.80665e-3, 2047) * 16, 0);
	}
	regs(0x68, 0x0C, bmi, 12);
	regs(0x1E, 0x03, hmc, 6);
	regs(0x19, 0x28, lis, 6);
	regs(0x19, 0xA8, lis, 6); /* the address with its "several bytes" bit set */
	/* LPS22HB: 4096 counts per hPa, 24 bits; 100 counts per degree */
	p = count(v[COL_PRESS], 100 / 4096.0, 0x7fffff);
	lps[0] = p;
	lps[1] = p >> 8;
	lps[2] = p >> 16;
	put16(lps + 3, count(v[COL_TEMP], 0.01, 32767), 0);
	regs(0x5C, 0x28, lps, 5);
	/* BMP280: raw pressure moves around the data sheet's example point; the
	 * driver turns it into kPa with the calibration words in the chip (about
	 * 0.1725 Pa per count, falling) */
	p = 415148 - count(v[COL_PRESS] - 100653, 0.1725, 0x3ffff);
	bmp[0] = p >> 12;
	bmp[1] = p >> 4;
	bmp[2] = p << 4;
	regs(0x76, 0xF7, bmp, 3);
}

/* ---------------------------------------------------------- control port */

static struct sensor *find(const char *name)
{
	for (int i = 0; i < NSENSORS; i++)
		if (!strcmp(sensors[i].name, name))
			return &sensors[i];
	return NULL;
}

/*
 * One command per line, one answer line per command ("ok ..." or "error ..."):
 *   set V...             hold these values from now on (CSV columns, no time)
 *   mode synth|csv|hold  where values come from; also restarts their clock
 *   period SENSOR USEC   report period below the driver's 1 ms; 0: obey driver
 *   mute SENSOR 0|1      powered, yet silent (a stalled sensor)
 *   unplug | plug        remove or add the whole hub (hot plug)
 *   stats                reports sent and skipped per sensor
 */
static void control_line(int fd, char *line)
{
	char cmd[32] = "", arg[32] = "", out[512] = "ok";
	struct sensor *s;
	int used = 0, n;

	sscanf(line, "%31s %n", cmd, &used);
	if (!strcmp(cmd, "set")) {
		char *p = line + used, *e;

		for (n = 0; n < NCOL; n++) {
			double d = strtod(p, &e);
			if (e == p)
				break;
			held[n] = d;
			p = e + strspn(e, ", \t");
		}
		mode = HOLD;
		i2c_tick();
	} else if (!strcmp(cmd, "mode")) {
		sscanf(line + used, "%31s", arg);
		mode = !strcmp(arg, "csv") ? CSV : !strcmp(arg, "hold") ? HOLD : SYNTH;
		t0 = now_ns(CLOCK_MONOTONIC);
	} else if (!strcmp(cmd, "period") && sscanf(line + used, "%31s %d", arg, &n) == 2 && (s = find(arg))) {
		s->interval_us = n;
		s->due = now_ns(CLOCK_MONOTONIC) + period_ns(s);
	} else if (!strcmp(cmd, "mute") && sscanf(line + used, "%31s %d", arg, &n) == 2 && (s = find(arg))) {
		s->muted = n;
		s->due = now_ns(CLOCK_MONOTONIC) + period_ns(s);
	} else if (!strcmp(cmd, "unplug")) {
		if (uhid >= 0)
			close(uhid);
		uhid = -1;
	} else if (!strcmp(cmd, "plug")) {
		if (uhid < 0)
			uhid_start();
	} else if (!strcmp(cmd, "restart-iiod")) {
		/* The guest's first process starts it again a second later. */
		if (system("killall iiod"))
			snprintf(out, sizeof(out), "error no iiod to end");
	} else if (!strcmp(cmd, "stats")) {
		for (int i = 0; i < NSENSORS; i++)
			snprintf(out + strlen(out), sizeof(out) - strlen(out), " %s=%llu/%llu", sensors[i].name,
				 (unsigned long long)sensors[i].sent, (unsigned long long)sensors[i].late);
	} else {
		snprintf(out, sizeof(out), "error unknown command or sensor");
	}
	dprintf(fd, "%s\n", out);
}

int main(int argc, char **argv)
{
	int port = 0, opt, listener = -1, client = -1, timer;
	int64_t next_i2c = 0;
	size_t have = 0;
	char buf[1024];

	while ((opt = getopt(argc, argv, "c:i:p:kv")) != -1) {
		if (opt == 'c')
			load_csv(optarg);
		else if (opt == 'i')
			i2c = open(optarg, O_RDWR | O_CLOEXEC);
		else if (opt == 'p')
			port = atoi(optarg);
		else if (opt == 'k')
			kernel_stamps = 1;
		else if (opt == 'v')
			verbose = 1;
		else
			return 2;
	}
	t0 = now_ns(CLOCK_MONOTONIC);
	to_realtime = now_ns(CLOCK_REALTIME) - t0;
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 10 });
	if (port) {
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
		int one = 1;

		listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 4))
			perror("motion-lab: control port");
	}
	uhid_start();

	for (;;) {
		int64_t now, next = uhid_tick();
		struct itimerspec it = { 0 };
		/* an absent descriptor (-1) is ignored by poll() */
		struct pollfd p[4] = { { uhid, POLLIN }, { timer, POLLIN }, { listener, POLLIN }, { client, POLLIN } };

		now = now_ns(CLOCK_MONOTONIC);
		if (i2c >= 0) {
			if (now >= next_i2c) {
				i2c_tick();
				next_i2c = now + 5000000; /* 200 Hz */
			}
			if (!next || next_i2c < next)
				next = next_i2c;
		}
		it.it_value.tv_sec = next / 1000000000;
		it.it_value.tv_nsec = next % 1000000000;
		timerfd_settime(timer, TFD_TIMER_ABSTIME, &it, NULL);
		if (poll(p, 4, -1) < 0)
			continue;
		if (p[0].revents)
			uhid_event();
		if (p[1].revents) {
			uint64_t n;
			if (read(timer, &n, sizeof(n)) < 0) { /* re-armed above */ }
		}
		if (p[2].revents) {
			if (client >= 0)
				close(client);
			client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
			have = 0;
		} else if (p[3].revents) {
			ssize_t n = read(client, buf + have, sizeof(buf) - 1 - have);
			char *nl;

			if (n <= 0 || have + n == sizeof(buf) - 1) {
				close(client);
				client = -1;
				continue;
			}
			have += n;
			buf[have] = 0;
			while ((nl = strchr(buf, '\n'))) {
				*nl = 0;
				control_line(client, buf);
				have -= nl + 1 - buf;
				memmove(buf, nl + 1, have + 1);
			}
		}
	}
}
