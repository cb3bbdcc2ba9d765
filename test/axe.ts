import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** What axe finds against a page as it stands: the rule, and the first place that breaks it. */
export async function violations(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(axe)
  return tab.evaluate(
    `axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes[0].target + ' ' + nodes[0].failureSummary))`,
  )
}
