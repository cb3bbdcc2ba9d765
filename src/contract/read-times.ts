import type { PriceReader } from './price-reader.ts'
import { type Change, type Hours, weekdays } from './prices.ts'
import { overlayWords, readOverlay } from './read-price.ts'

export function readChange(value: unknown, path: string, reader: PriceReader): Change {
  const fields = reader.mapping(value, path, ['from', ...overlayWords])
  return {
    fromMs: reader.moment(fields.from, `${path}.from`) ?? 0,
    ...readOverlay(fields, path, reader, true),
  }
}

export function readHours(value: unknown, path: string, reader: PriceReader): Hours {
  const fields = reader.mapping(value, path, ['days', 'except', 'utc', 'clock', ...overlayWords])
  const days = reader.list(fields.days, `${path}.days`)
  const windows = reader.list(fields.utc, `${path}.utc`)
  return {
    ...readOverlay(fields, path, reader, true),
    days:
      fields.days === undefined
        ? weekdays
        : days.map((day, at) => reader.word(day, `${path}.days.${at}`, weekdays)),
    except: reader.list(fields.except, `${path}.except`).map((day, at) => {
      const text = day instanceof Date ? day.toISOString().slice(0, 10) : day
      if (typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text)) return text
      reader.issue(`${path}.except.${at}`, 'a day such as 2026-10-01', day)
      return ''
    }),
    windows:
      fields.utc === undefined
        ? [{ from: 0, to: minutesOfDay }]
        : windows.flatMap((window, at) => readWindow(window, `${path}.utc.${at}`, reader)),
  }
}

const minutesOfDay = 24 * 60

function readWindow(value: unknown, path: string, reader: PriceReader) {
  const match = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(String(value))
  const [from, to] =
    match === null ? [] : [minutes(match[1]!, match[2]!), minutes(match[3]!, match[4]!)]
  if (
    from === undefined ||
    to === undefined ||
    from === to ||
    from >= minutesOfDay ||
    to > minutesOfDay
  ) {
    reader.issue(path, 'a window of UTC such as "01:00-04:00"', value)
    return []
  }
  return [{ from, to }]
}

const minutes = (hours: string, rest: string): number | undefined =>
  Number(rest) < 60 ? Number(hours) * 60 + Number(rest) : undefined
