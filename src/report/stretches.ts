import type { Contract } from '../contract/contract.ts'
import type { Session } from '../store/session/session.ts'
import { type Html, html } from '../user/html.ts'
import type { Check } from './banner.ts'
import { type Balance, readBalances, stretchText, totalOf } from './summary/balances.ts'
import { rate } from './summary/figures.ts'
import { fillTable } from './temp-table.ts'

/**
 * Creates `shown_stretches` (run_id, account, first, last, taken, expected, expected_at_most, unexplained), in credits: a
 * row for each account of each shown run, from its first balance to its last.
 */
export async function prepareStretches(
  session: Session,
  contract: Contract,
): Promise<readonly Balance[]> {
  const runs = await session.rows<{ run_id: string }>('FROM shown_runs ORDER BY offset_us, run_id')
  const balances: (Balance & { readonly run_id: string })[] = []
  for (const { run_id } of runs) {
    for (const balance of await readBalances(session, run_id, contract))
      balances.push({ run_id, ...balance })
  }
  await fillTable(
    session,
    'shown_stretches',
    {
      run_id: 'VARCHAR',
      account: 'VARCHAR',
      first: 'DOUBLE',
      last: 'DOUBLE',
      taken: 'DOUBLE',
      expected: 'DOUBLE',
      expected_at_most: 'DOUBLE',
      unexplained: 'DOUBLE',
    },
    balances.map(({ expectedAtMost, ...row }) => ({ ...row, expected_at_most: expectedAtMost })),
  )
  return balances
}

export function stretchLine(balances: readonly Balance[]): Html | false {
  const text = stretchText(balances)
  return text !== null && html`<p class="note">Credits ${text}.</p>`
}

/** Credits that nothing explains, as a doubt; none if all are explained. */
export function stretchChecks(balances: readonly Balance[]): readonly Check[] {
  const total = totalOf(balances)
  if (total === null || total.unexplained === 0) return []
  return [
    {
      tone: 'warn',
      name: 'Credits that nothing explains:',
      figure: `${rate(total.unexplained)}, where ${rate(total.taken)} were taken between the first and the last balance`,
      remedy: 'Run assay audit: it names the requests, and knows late charges and expiries.',
    },
  ]
}
