import { lookup } from '../../user/lookup.ts'

/** A moment on the clocks of a time zone. */
export interface LocalTime {
  /** `2026-10-25` */
  readonly date: string
  /** `2026-10-25T02:00:00+01:00`. The offset is needed because one hour of autumn comes twice. */
  readonly hour: string
}

export class ZoneError extends Error {
  override readonly name = 'ZoneError'
}

/**
 * Converts times to the clocks of an IANA time zone.
 *
 * @throws ZoneError for an unknown name
 */
export function zone(name: string): (epochUs: number) => LocalTime {
  const known = zones.get(name)
  if (known !== undefined) return known
  const read = remembered(readerOf(name))
  if (zones.size >= mostZones) zones.clear()
  zones.set(name, read)
  return read
}

/** Formatting costs microseconds, and a usage page needs the same year again and again. */
const zones = new Map<string, (epochUs: number) => LocalTime>()
const mostZones = 16
const mostQuarters = 100_000
/** Clocks change, and time zones differ, by multiples of this. */
const quarterUs = 15 * 60e6

function remembered(read: (epochUs: number) => LocalTime): (epochUs: number) => LocalTime {
  const quarters = new Map<number, LocalTime>()
  return (epochUs) => {
    const quarter = Math.floor(epochUs / quarterUs)
    let local = quarters.get(quarter)
    if (local === undefined) {
      if (quarters.size >= mostQuarters) quarters.clear()
      local = read(quarter * quarterUs)
      quarters.set(quarter, local)
    }
    return local
  }
}

function readerOf(name: string): (epochUs: number) => LocalTime {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      timeZoneName: 'longOffset',
    })
  } catch {
    throw new ZoneError(`timezone: expected an IANA time zone such as Europe/Berlin; got "${name}"`)
  }
  return (epochUs) => {
    const part: Record<string, string> = lookup()
    for (const { type, value } of format.formatToParts(epochUs / 1000)) part[type] = value
    const date = `${part.year}-${part.month}-${part.day}`
    // `GMT+05:30`, or `GMT` for zero.
    const offset = part.timeZoneName?.slice(3) || '+00:00'
    return { date, hour: `${date}T${part.hour}:00:00${offset}` }
  }
}
