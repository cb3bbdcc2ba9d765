import type { Contract } from '../../contract/contract.ts'
import { loadContract } from '../../contract/load.ts'
import { askable } from '../../probe/askable.ts'
import { type BorderInputs, type BorderSearch, mostRequests } from '../../probe/border-inputs.ts'
import { probe } from '../../public/probe.ts'
import { openStore } from '../../public/store.ts'
import { words } from '../../run/plan/token-text.ts'
import { reach } from '../../run/start/preflight.ts'
import { writeOutput } from '../../store/files/output.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/probe.ts'
import { extraHeaders } from '../runs/extra-headers.ts'
import { apiKey, baseUrlOf } from '../runs/target.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine, sameCommandWithout } from '../terminal/next.ts'
import { positiveOf } from '../terminal/numbers.ts'
import { shown } from '../terminal/progress.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'
import { mustBeWritable, mustNotBeKeys } from './probe-target.ts'

/** As many prompts as a session of a watch has. */
const search: BorderSearch = { words, wanted: 20 }

/** Fewer prompts are no session. */
const leastFound = 5

/** `assay probe --border-inputs FILE`: words whose first token shows a change of the model soonest, one a line. */
export async function findBorderInputs(options: Options, path: string): Promise<void> {
  const contract = askable(eachCostsOne(loadContract(options.contract)))
  const maxCredits = positiveOf('--max-credits', options.maxCredits)
  const headers = extraHeaders('--header', options.header, process.env)
  mustNotBeKeys(headers, contract)
  const most = `At most ${Math.min(maxCredits, mostRequests(search))} requests for one token each, of one word`
  if (options.dryRun) {
    process.stdout.write(`Nothing was sent. ${most}.\n`)
    process.stdout.write(nextLine(sameCommandWithout('--dry-run'), 'asks the service'))
    return
  }
  const baseUrl = baseUrlOf(options.baseUrl, contract)
  const key = apiKey()
  mustBeWritable('--border-inputs', path)
  await reach(baseUrl, {}, contract.timeouts.connectMs)
  process.stderr.write(`${most}.\n`)
  const store = await openStore(options.db)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(() => stop.abort())
  try {
    const { borderInputs, interrupted, profile } = await shown(({ onProgress }) =>
      probe(store, {
        ...{ contract, baseUrl, apiKey: key, headers, maxCredits, onProgress },
        ...{ timeScale: positiveOf('--time-scale', options.timeScale), signal: stop.signal },
        borders: search,
      }),
    )
    if (interrupted || borderInputs === null) {
      process.exitCode = exit.interrupted
      return
    }
    const { found, asked } = borderInputs
    if (found.length < leastFound) throw tooFew(borderInputs, path)
    writeOutput(path, `${found.join('\n')}\n`)
    process.stdout.write(
      `${found.length} of ${asked} words have two likely first tokens; at most ${profile.credits_spent} requests were sent. They are in ${path}.\nAsk them at temperature 0: in integrity-session.yaml, name ${path} as the file, and put 0 for the temperature.\n`,
    )
  } finally {
    ignoreSignals()
    store.close()
  }
}

/** Each request counts as one credit, so that `--max-credits` bounds their number, whatever a contract charges. */
const eachCostsOne = (contract: Contract): Contract => ({
  ...contract,
  ...(contract.models === undefined
    ? {}
    : { models: contract.models.map((model) => ({ ...model, costCredits: 1 })) }),
})

const tooFew = ({ found, asked }: BorderInputs, path: string) =>
  userError.usage(
    `--border-inputs: ${found.length} of ${asked} words have two likely first tokens at temperature 0, and a session needs ${leastFound}. ${path} was not written. ${
      asked < search.words.length
        ? 'Raise --max-credits, which bounds the requests.'
        : 'Keep the words of integrity-session.yaml, and its temperature of 1.'
    }`,
  )
