import { shownBaseUrl } from '../../contract/base-url.ts'
import type { Contract } from '../../contract/contract.ts'
import { makeReport } from '../../public/report.ts'
import type { Progress } from '../../run/count/progress.ts'
import type { Counted } from '../../run/count/tally.ts'
import type { RunResult } from '../../run/run.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { inStore } from '../../store/session/in-store.ts'
import { RunPage } from './run-page.ts'
import { openLive, stayLive } from './server.ts'

/** Serves the page of a run: its counters while it lasts, then its launch report. */
export async function openLiveRun(port: string | true, scenario: Scenario, baseUrl: string) {
  const page = new RunPage(scenario, shownBaseUrl(baseUrl))
  const server = await openLive(port, page)
  return {
    show(progress: Progress, counted: Counted) {
      page.add(progress, counted)
      server.tell(Date.now())
    },
    /** @param result null if the store has nothing to report; the last counters then stay */
    async end(result: RunResult | null, contract: Contract) {
      await stayLive(server, result === null ? undefined : await launchPage(result, contract))
    },
    close: () => server.close(),
  }
}

const launchPage = ({ dbPath, runId }: RunResult, contract: Contract): Promise<string> =>
  inStore(
    dbPath,
    async (store) => (await makeReport(store, { page: 'launch', contract, runIds: [runId] })).html,
  )
