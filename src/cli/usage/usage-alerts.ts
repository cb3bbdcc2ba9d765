import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Journal, type KnownAlert } from '../../portal/alerts/journal.ts'
import { readSettings } from '../../portal/settings/settings.ts'
import { userError } from '../../user/user-error.ts'
import type { AlertsOptions } from '../commands/usage.ts'
import { settingsOf } from './usage-serve.ts'

/** Prints what was sent, or has one alert sent anew by the server that has the file. */
export function alertsAction(flags: AlertsOptions): void {
  const file = settingsOf(flags.settings)
  const { alerts, folder } = readSettings(file)
  if (alerts === undefined) {
    throw userError.usage(`${file}: has no alerts:, so none are sent. See docs/usage-serve.md.`)
  }
  const path = resolve(folder, alerts.file)
  if (!existsSync(path)) {
    throw userError.usage(`alerts.file: ${path} does not exist: the server makes it.`)
  }
  const journal = new Journal(path, Date.now())
  try {
    if (flags.replay === undefined) {
      for (const known of journal.alerts.values()) process.stdout.write(lineOf(known))
      return
    }
    if (!journal.alerts.has(flags.replay)) {
      throw userError.usage(
        `--replay ${flags.replay}: expected the id of an alert; assay usage alerts lists them.`,
      )
    }
    journal.replay(flags.replay, Date.now())
    process.stdout.write(`${flags.replay}: the server sends it anew within a second.\n`)
  } finally {
    journal.close()
  }
}

function lineOf({ alert, atMs, deliveries }: KnownAlert): string {
  const states = [...deliveries].map(
    ([webhook, { state, attempts, status }]) =>
      `${webhook} ${state}${attempts === 0 ? '' : ` after ${attempts} (${status})`}`,
  )
  const at = new Date(atMs).toISOString()
  // A name is data: no sign of it may move the cursor.
  return `${[at, alert.id, alert.type, JSON.stringify(alert.account), ...states].join('  ')}\n`
}
