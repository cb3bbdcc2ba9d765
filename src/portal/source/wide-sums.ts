import { groupColumns, quantities, quarterUs, sumColumns } from '../../measure/usage/quantities.ts'
import { endOfDayUs, startOfDayUs } from '../../measure/usage/zone.ts'
import { textList } from '../../store/literal.ts'
import type { Store } from '../../store/session/open.ts'
import { dayUs } from '../../user/durations.ts'

/** The zones whose days are those of accounts. */
export interface DayZones {
  readonly usual: string
  /** Accounts with another one. */
  readonly others: ReadonlyMap<string, string>
}

/** Fewer rows are read in no time. */
const leastRows = 1_000

/** Columns of the table `held` but its day. */
export const heldColumns = Object.entries(quantities)
  .map(([name, { type }]) => `${name} ${type}`)
  .join(', ')

/** Minutes are those of a quarter of an hour alone. */
const summed = Object.keys(quantities).filter(
  (name) => !groupColumns.includes(name) && name !== 'minutes',
)
const hourGroups = groupColumns.filter((name) => name !== 'quarter')
/** SQL for the sums of hours of rows of quarters. */
const hoursSql = (from: string) => `
  SELECT quarter // 4 * 4 AS quarter, day, ${hourGroups.join(', ')}, ${sumColumns(summed)}
  FROM ${from} GROUP BY quarter // 4 * 4, day, ${hourGroups.join(', ')}`

/** What no answer tells apart. */
const untold = ['source', 'quarter', 'width_us', 'account', 'error_code']
const dayGroups = groupColumns.filter((name) => !untold.includes(name))
/** The columns of sums of local days that a session sees. */
const ofDays = ['quarter', 'width_us', ...dayGroups, ...summed]

/** The names that sums of days tell apart. */
const names = ['key_fp', 'model', 'endpoint', 'tags']
/** Sums of days by fewer of them: few rows, however many keys and models an account has. The fewest stand first. */
const fewer = { total: [], models: ['model', 'endpoint'], keys: ['key_fp'] } as const
export type DayTable = keyof typeof fewer | 'all'
export const dayTables = [...Object.keys(fewer), 'all'] as readonly DayTable[]
const namesOf = (table: DayTable): readonly string[] => (table === 'all' ? names : fewer[table])
const without = (table: DayTable) => (column: string) =>
  !names.includes(column) || namesOf(table).includes(column)
/** What conditions on a row ask, beside its names: rows that differ in it are not added up. */
const judged = ['credits_known > 0', 'credits IS NULL', 'requests > 0', 'refunds IS NULL']

/** The columns of a table of days that a session sees. */
export const columnsOfDays = (table: DayTable) => ofDays.filter(without(table)).join(', ')

/** The first table that has all names that some SQL reads; a name within a text counts as one. */
export const tableWith = (reads: string): DayTable => {
  const read = names.filter((name) => new RegExp(`\\b${name}\\b`).test(reads))
  return dayTables.find((table) => read.every((name) => namesOf(table).includes(name)))!
}

/** SQL for a table of days from the rows of all names. */
function fewerSql(table: DayTable, from: string): string {
  const groups = ['quarter', 'day', 'account', ...dayGroups.filter(without(table))].join(', ')
  return `SELECT ${groups}, max(width_us) AS width_us, ${sumColumns(summed)} FROM ${from}
    GROUP BY ${groups}, ${judged.map((sql) => `(${sql})`).join(', ')}`
}

/**
 * SQL for the sums of local days of rows of quarters. The quarter of a day is its first.
 *
 * @param days starts of local days, Unix microseconds, from the first quarter on
 */
const daysSql = (from: string, where: string, days: readonly number[]) => `
  WITH times AS (
    SELECT quarter, start_us FROM (SELECT DISTINCT quarter FROM ${from})
    ASOF JOIN (SELECT unnest([${days.join()}]::BIGINT[]) AS start_us) ON quarter * ${quarterUs} >= start_us)
  SELECT start_us // ${quarterUs} AS quarter, greatest(max(width_us), ${dayUs})::BIGINT AS width_us, day, account,
    ${dayGroups.join(', ')}, ${sumColumns(summed)}
  FROM ${from} JOIN times USING (quarter) WHERE ${where} GROUP BY start_us, day, account, ${dayGroups.join(', ')}`

const hours = 'held_hours'
/** Sums of the local days of these zones. */
interface Days {
  readonly tables: Readonly<Record<DayTable, string>>
  readonly zones: DayZones
}

/**
 * The same sums as `held` by the hour and by the local day, for periods that begin and end with these. Each is kept once it has at most
 * half of the rows: it costs as much as they do. Both have the UTC day of their rows, by which days are replaced.
 */
export class WideSums {
  private readonly store: Store
  private hasHours = false
  private days: Days | null = null
  /** Sums of days that nobody asks any more. */
  private stale: readonly string[] = []
  private made = 0
  /** Rows of `held` when they were last counted. */
  private countedRows = 0
  private zones: DayZones = { usual: 'UTC', others: new Map() }
  private readonly starts = new Map<string, readonly number[]>()

  constructor(store: Store) {
    this.store = store
  }

  static readonly tables = `CREATE TABLE ${hours} (${heldColumns}, day BIGINT)`

  /** From the next copy on, days are those of these zones. */
  useZones(zones: DayZones): void {
    this.zones = zones
  }

  /** Statements that delete rows. @param where SQL condition on their UTC day */
  deletedSql(where: string): string {
    return [hours, ...(this.days === null ? [] : Object.values(this.days.tables))]
      .map((table) => `DELETE FROM ${table} WHERE ${where};`)
      .join('\n')
  }

  /** Statements that add rows of `held`. @param from the rows, with their UTC day */
  async addedSql(from: string): Promise<string> {
    return [
      ...(this.hasHours ? [addHours(from)] : []),
      ...(this.days === null
        ? []
        : [
            `CREATE OR REPLACE TEMP TABLE ${added} AS FROM ${this.days.tables.all} LIMIT 0`,
            ...(await this.addDays(from, added, this.days.zones)),
            `INSERT INTO ${this.days.tables.all} BY NAME FROM ${added}`,
            ...addFewer(added, this.days.tables),
          ]),
    ]
      .map((sql) => `${sql};`)
      .join('\n')
  }

  /** Sums of hours and days once they are few enough, counted again whenever the rows have doubled; and days anew where zones have changed. */
  async follow(): Promise<void> {
    for (const table of this.stale) await this.store.execute(`DROP TABLE ${table}`)
    this.stale = []
    if (this.days !== null && !isSame(this.days.zones, this.zones)) await this.makeDays()
    if (this.hasHours && this.days !== null) return
    const [held] = await this.store.rows<{ rows: number }>('SELECT count(*) AS rows FROM held')
    const { rows } = held!
    if (rows < Math.max(leastRows, 2 * this.countedRows)) return
    const [counted] = await this.store.rows<{ hours: number; days: number }>(
      `SELECT approx_count_distinct(hash(quarter // 4, ${hourGroups.join(', ')})) AS hours,
         approx_count_distinct(hash(quarter // 96, account, ${dayGroups.join(', ')})) AS days FROM held`,
    )
    this.countedRows = rows
    if (!this.hasHours && counted!.hours <= rows / 2) {
      await this.store.execute(addHours('held'))
      this.hasHours = true
    }
    if (this.days === null && counted!.days <= rows / 2) await this.makeDays()
  }

  /** The tables with the sums of hours and of local days of an account: where there are none, narrower ones. */
  tablesFor(
    account: string | null,
    timezone: string | null,
  ): { readonly hours: string; readonly days: Readonly<Record<DayTable, string>> } {
    const isOfZone =
      this.days !== null && account !== null && zoneIn(this.days.zones, account) === timezone
    return {
      hours: this.hasHours ? hours : 'held',
      days: isOfZone ? this.days!.tables : tablesBy(() => 'held'),
    }
  }

  /** A page that is being made reads the table that it began with. */
  private async makeDays(): Promise<void> {
    this.made++
    const { zones } = this
    const tables = tablesBy(
      (table) => `held_days_${this.made}${table === 'all' ? '' : `_${table}`}`,
    )
    const created = dayTables.map((table) => {
      const columns = ofDays
        .filter(without(table))
        .map((name) => `${name} ${quantities[name]!.type}`)
      return `CREATE TABLE ${tables[table]} (${columns.join(', ')}, account VARCHAR, day BIGINT)`
    })
    const filled = [
      ...(await this.addDays('held', tables.all, zones)),
      ...addFewer(tables.all, tables),
    ]
    await this.store.execute([...created, ...filled].join(';\n'))
    this.stale = Object.values(this.days?.tables ?? {})
    this.days = { tables, zones }
  }

  /** A statement for each zone. */
  private async addDays(from: string, table: string, zones: DayZones): Promise<readonly string[]> {
    const found = await this.store.rows<{ day: number }>(
      `SELECT DISTINCT quarter // 96 AS day FROM ${from}`,
    )
    if (found.length === 0) return []
    const { usual, others } = zones
    const byZone = Map.groupBy(others.keys(), (account) => others.get(account)!)
    const named = inList([...others.keys()])
    const parts: readonly (readonly [zone: string, where: string])[] = [
      [usual, others.size === 0 ? 'true' : `coalesce(account, '') NOT IN ${named}`],
      ...[...byZone].map(([zone, own]) => [zone, `account IN ${inList(own)}`] as const),
    ]
    return parts.map(([zone, where]) => {
      const starts = new Set(found.flatMap(({ day }) => this.startsIn(day, zone)))
      return `INSERT INTO ${table} BY NAME SELECT * FROM (${daysSql(from, where, [...starts])}) ORDER BY account, quarter`
    })
  }

  /** The starts of the local days that a UTC day has a part of. */
  private startsIn(day: number, zone: string): readonly number[] {
    const key = `${zone} ${day}`
    const known = this.starts.get(key)
    if (known !== undefined) return known
    const starts: number[] = []
    for (
      let us = startOfDayUs(day * dayUs, zone);
      us < (day + 1) * dayUs;
      us = endOfDayUs(us, zone)
    )
      starts.push(us)
    this.starts.set(key, starts)
    return starts
  }
}

const added = 'added_days'

const tablesBy = (nameOf: (table: DayTable) => string) =>
  Object.fromEntries(dayTables.map((table) => [table, nameOf(table)])) as Record<DayTable, string>

/** Statements that add rows of all names to the tables of fewer. */
const addFewer = (from: string, tables: Days['tables']): readonly string[] =>
  dayTables.flatMap((table) =>
    table === 'all'
      ? []
      : [
          `INSERT INTO ${tables[table]} BY NAME SELECT * FROM (${fewerSql(table, from)}) ORDER BY account, quarter`,
        ],
  )

const addHours = (from: string) =>
  `INSERT INTO ${hours} BY NAME SELECT * FROM (${hoursSql(from)}) ORDER BY account, quarter`

const inList = (accounts: readonly string[]) => `(SELECT unnest(${textList(accounts)}))`

const zoneIn = ({ usual, others }: DayZones, account: string) => others.get(account) ?? usual

const isSame = (a: DayZones, b: DayZones) =>
  a === b ||
  (a.usual === b.usual &&
    a.others.size === b.others.size &&
    [...a.others].every(([account, zone]) => b.others.get(account) === zone))
