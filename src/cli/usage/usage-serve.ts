import { randomUUID } from 'node:crypto'
import { loadContract } from '../../contract/load.ts'
import { checkLook, openSettings } from '../../portal/settings/opened-settings.ts'
import {
  readSettings,
  type Settings,
  type Shown,
  showable,
} from '../../portal/settings/settings.ts'
import { signToken } from '../../portal/settings/tokens.ts'
import { clickhouseSource } from '../../portal/source/clickhouse-source.ts'
import { openPortal } from '../../portal/source/open.ts'
import { storeSource } from '../../portal/source/store-source.ts'
import { defaultContract } from '../../public/contract.ts'
import { openClickhouse } from '../../store/clickhouse/clickhouse.ts'
import { counted } from '../../user/grouped.ts'
import { readTextOr } from '../../user/read-text.ts'
import { userError } from '../../user/user-error.ts'
import type { CheckOptions, ServeOptions, TokenOptions } from '../commands/usage.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine, sayNextToPerson } from '../terminal/next.ts'
import { positiveOf } from '../terminal/numbers.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'

/** A copy of what is new begins at least this often. */
const mostEveryS = 10
/** A copy takes as long as that, so a shorter time would copy without a pause. */
const leastEveryS = 0.01

export async function serveAction(flags: ServeOptions): Promise<void> {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(flags.listen) ?? []
  if (host === undefined || Number(port) > 65_535) {
    throw userError.usage(`--listen ${flags.listen}: expected host:port, such as 127.0.0.1:8790`)
  }
  const everyS = positiveOf('--every', flags.every)
  if (everyS > mostEveryS || everyS < leastEveryS) {
    throw userError.usage(
      `--every ${flags.every}: expected ${leastEveryS} to ${mostEveryS} seconds.`,
    )
  }
  const settings = settingsOf(flags.settings)
  const { accounts, tokens } = checkedSettings(settings)
  const [account = 'ACCOUNT'] = [...accounts.keys()]
  const signing = tokens.algorithm === 'EdDSA' ? ['--private-key', 'usage-private.pem'] : []
  const contract = flags.contract === undefined ? null : loadContract(flags.contract)
  const source =
    flags.engine === undefined
      ? storeSource(flags.db, contract ?? defaultContract)
      : clickhouseSource(await openClickhouse(flags.engine))
  const portal = await openPortal({
    source,
    contract,
    settingsFile: settings,
    refreshMs: everyS * 1000,
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    log: (line) => process.stderr.write(`${line}\n`),
  })
  // Standard output is the address alone, since a program reads it.
  process.stdout.write(`${portal.url}\n`)
  process.stderr.write(
    nextLine(
      ['usage', 'token', '--account', account, '--settings', settings, ...signing],
      'in another terminal: signs a token to try it',
    ),
  )
  await new Promise<void>((stop) => onStopSignal(stop))
  await portal.close()
  process.exitCode = exit.interrupted
}

export async function tokenAction(flags: TokenOptions): Promise<void> {
  const { account, shows } = flags
  if (account === undefined || account === '') {
    throw userError.usage('--account is required: a token is of one account.')
  }
  const wrong = shows?.find((each) => !showable.some((known) => known === each))
  if (wrong !== undefined) {
    throw userError.usage(`--shows ${wrong}: expected ${showable.join(', ')}.`)
  }
  const settings = checkedSettings(flags.settings)
  const token = await signToken(settings, {
    account,
    forS: secondsOf(flags.for),
    origin: flags.origin ?? null,
    nowMs: Date.now(),
    shows: (shows ?? settings.shows) as readonly Shown[],
    id: randomUUID(),
    keys: flags.key.length === 0 ? null : flags.key,
    privateKey: flags.privateKey === undefined ? null : fileOf(flags.privateKey),
  })
  process.stdout.write(`${token}\n`)
  sayNextToPerson(
    ['usage', 'serve', '--settings', settingsOf(flags.settings)],
    'serves the usage that it opens',
  )
}

export function checkAction(flags: CheckOptions): void {
  const { settings } = openSettings(readSettings(settingsOf(flags.settings)), process.env)
  const { product, origins, accounts } = settings
  process.stdout.write(
    `${settingsOf(flags.settings)}: ${product}, ${counted(accounts.size, 'account')}, ${counted(origins.length, 'origin')}\n${nextLine(['usage', 'serve', '--settings', settingsOf(flags.settings)], 'serves the usage by them')}`,
  )
}

/** Settings of which everything but the key of tokens was checked. @throws UserError with every issue */
export const checkedSettings = (file: string | undefined): Settings =>
  checkLook(readSettings(settingsOf(file))).settings

export function settingsOf(file: string | undefined): string {
  if (file === undefined) {
    throw userError.usage('--settings is required; docs/usage-serve.md has an example.')
  }
  return file
}

const fileOf = (path: string): string =>
  readTextOr(path, () => userError.usage(`--private-key: ${path} cannot be read.`))

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? []
  if (count === undefined)
    throw userError.usage(`--for ${text}: expected a time such as 15m or 1h.`)
  return Number(count) * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h']
}
