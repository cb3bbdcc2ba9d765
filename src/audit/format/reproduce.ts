import type { Store } from '../../store/open.ts'
import type { AuditReport } from '../audit.ts'
import type { Witness } from '../verdict.ts'

interface Asked {
  readonly baseUrl: string
  readonly method: string
  readonly path: string
  readonly headers: string
  readonly body: string | null
}

/**
 * For each rule that failed, a command that sends the request of its first witness again, the key
 * taken from the environment.
 */
export async function reproductions(
  store: Store,
  { findings }: AuditReport,
): Promise<ReadonlyMap<string, string>> {
  const commands = new Map<string, string>()
  for (const { rule, verdict } of findings) {
    if (verdict.verdict !== 'fail') continue
    const asked = await askedBy(store, verdict.witnesses[0])
    if (asked !== null) commands.set(rule, curlOf(asked))
  }
  return commands
}

async function askedBy(store: Store, witness: Witness): Promise<Asked | null> {
  const [asked] = await store.rows<Asked>(
    `SELECT base_url AS "baseUrl", method, path, templates.headers, templates.body
     FROM attempts JOIN templates USING (run_id, template) JOIN runs USING (run_id)
     WHERE run_id = $1 AND slot = $2 AND retry = $3 LIMIT 1`,
    [witness.runId, BigInt(witness.slot), witness.retry],
  )
  return asked ?? null
}

/** A curl command for any POSIX shell. */
export function curlOf({ baseUrl, method, path, headers, body }: Asked): string {
  const parts = ['curl -sS -i']
  if (method !== 'GET') parts.push(`-X ${method}`)
  for (const [name, value] of Object.entries(JSON.parse(headers) as Record<string, string>)) {
    parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  }
  if (body !== null) parts.push(`--data-raw ${quoted(body)}`)
  const url = URL.canParse(path, baseUrl) ? new URL(path, baseUrl).href : `${baseUrl}${path}`
  parts.push(quoted(url))
  return parts.join(' ')
}

const keyVariable = '$ASSAY_API_KEY'

/** Single quotes keep everything as it is; only the key's variable must be expanded. */
function quoted(text: string): string {
  return text
    .split(keyVariable)
    .map((piece) => (piece === '' ? '' : `'${piece.replaceAll("'", `'\\''`)}'`))
    .join(`"${keyVariable}"`)
}
