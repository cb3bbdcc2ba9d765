/**
 * The clock of a fixture's process: it starts in a second of a minute that is given, and can be moved ahead.
 * What a library reads of it (`Date`, `process.hrtime`) moves; its timers do not, which only collect what has
 * expired.
 */
const RealDate = Date
const realHrtime = process.hrtime.bigint

let aheadMs = Date.UTC(2026, 0, 1, 0, 0, Number(process.argv[5])) - Date.now()

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [Date.now()] : given))
  }
  static now() {
    return RealDate.now() + Math.round(aheadMs)
  }
}

process.hrtime = Object.assign(
  ([s, ns] = [0, 0]) => {
    const nowNs = process.hrtime.bigint() - BigInt(s) * 1_000_000_000n - BigInt(ns)
    return [Number(nowNs / 1_000_000_000n), Number(nowNs % 1_000_000_000n)]
  },
  { bigint: () => realHrtime() + BigInt(Math.round(aheadMs * 1e6)) },
)

export function advance(ms) {
  aheadMs += ms
}
