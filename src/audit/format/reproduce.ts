import { z } from 'zod'
import { keyPlaceholder, spoiledKeyPlaceholders } from '../../attempt/shown-key.ts'
import type { Store } from '../../store/open.ts'
import type { AuditReport } from '../audit.ts'
import { allRules } from '../rules/list.ts'
import type { Witness } from '../verdict.ts'

interface Asked {
  readonly baseUrl: string
  readonly method: string
  readonly path: string
  readonly headers: string
  readonly body: string | null
  /** JSON of the keys of the run, with the variable that each came from; null where it tells none. */
  readonly keys: string | null
  readonly account: string | null
}

/**
 * For each rule that failed, a command that sends the request of its first witness again, the key
 * taken from the variable that the run took it from. Where requests in flight together broke it, those of the
 * first two are sent at once.
 */
export async function reproductions(
  store: Store,
  { findings }: AuditReport,
): Promise<ReadonlyMap<string, string>> {
  const commands = new Map<string, string>()
  for (const { rule, verdict } of findings) {
    if (verdict.verdict !== 'fail') continue
    const [first, second = first] = verdict.witnesses
    const asked = await askedBy(store, first)
    if (asked === null) continue
    const isAtOnce = allRules.some(({ id, isOfConcurrency }) => id === rule && isOfConcurrency)
    const concurrent = isAtOnce ? ((await askedBy(store, second)) ?? asked) : null
    commands.set(
      rule,
      concurrent === null ? curlOf(asked) : atOnce([curlOf(asked), curlOf(concurrent)]),
    )
  }
  return commands
}

async function askedBy(store: Store, witness: Witness): Promise<Asked | null> {
  const [asked] = await store.rows<Asked>(
    `SELECT base_url AS "baseUrl", method, path, templates.headers, templates.body, account,
            json_extract_string(scenario_json, '$.keys') AS keys
     FROM attempts JOIN templates USING (run_id, template) JOIN runs USING (run_id)
     WHERE run_id = $1 AND slot = $2 AND retry = $3 LIMIT 1`,
    [witness.runId, BigInt(witness.slot), witness.retry],
  )
  return asked ?? null
}

/** Commands for one shell, each in a process of its own; lines that a command reads stay whole. */
export function atOnce(commands: readonly string[]): string {
  const own = (command: string) => (command.includes('\n') ? `( ${command}\n)` : command)
  return `${commands.map((command) => `${own(command)} &`).join(' ')} wait`
}

/** A system takes 128 KiB in one argument, and some less. */
const longestArgument = 60_000

/** A curl command for any POSIX shell; of several lines where the body is too long for an argument. */
export function curlOf({ baseUrl, method, path, headers, body, keys, account }: Asked): string {
  const withKey = quotedWith(variableOf(keys, account))
  const parts = ['curl -sS -i']
  if (method !== 'GET') parts.push(`-X ${method}`)
  for (const [name, value] of Object.entries(JSON.parse(headers) as Record<string, string>)) {
    parts.push(`-H ${withKey(`${name}: ${value}`)}`)
  }
  const isLong = body !== null && body.length > longestArgument
  if (body !== null) parts.push(isLong ? '--data-binary @-' : `--data-raw ${withKey(body)}`)
  const url = URL.canParse(path, baseUrl) ? new URL(path, baseUrl).href : `${baseUrl}${path}`
  parts.push(withKey(url))
  return isLong ? `${parts.join(' ')} ${heredoc(body)}` : parts.join(' ')
}

/** Text for a command's input, kept as it is up to a line that is not in it. */
function heredoc(text: string): string {
  let end = 'END-OF-BODY'
  while (text.includes(end)) end += '-'
  return `<<'${end}'\n${text}\n${end}`
}

/** Single quotes keep everything as it is. */
export function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : quoted(text)
}

/** How a shell makes of the key what was sent for it, by what stands there instead of it. */
const keyWords = new Map<string, (variable: string) => string>([
  [keyPlaceholder, (name) => `"$${name}"`],
  [
    spoiledKeyPlaceholders.altered,
    (name) => `"\${${name}%?}$(case "$${name}" in *0) echo 1;; *) echo 0;; esac)"`,
  ],
  [spoiledKeyPlaceholders.recased, (name) => `"$(printf %s "$${name}" | tr a-zA-Z A-Za-z)"`],
])

const scenarioKeys = z.array(
  z.object({ account: z.string(), source: z.object({ env: z.string().regex(/^[A-Za-z_]\w*$/) }) }),
)

/** The variable that held the first key of the account; the usual one where the run does not tell. */
function variableOf(keys: string | null, account: string | null): string {
  const known = keys === null ? null : scenarioKeys.safeParse(JSON.parse(keys))
  const key = known?.data?.find((each) => each.account === account)
  return key?.source.env ?? 'ASSAY_API_KEY'
}

/** Single quotes keep everything as it is; only the placeholder of the key must be expanded. */
function quotedWith(variable: string): (text: string) => string {
  return (text) =>
    text
      .split(/(\$ASSAY_API_KEY(?:-with-[a-z-]+)?)/)
      .map((piece) => keyWords.get(piece)?.(variable) ?? (piece === '' ? '' : quoted(piece)))
      .join('')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
