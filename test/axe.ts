import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** What other colours change: axe's other rules read the elements, which are the same in light and dark. */
export const ofColours = ['color-contrast', 'link-in-text-block'] as const

/** The violations that axe finds on a page in its current state: each rule (of all, or of those named), and the first place. */
export async function violations(tab: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await tab.evaluate('"axe" in window'))) await tab.evaluate(axe)
  return tab.evaluate(
    // Details of what passes take most of the time, and nobody reads them.
    `axe.run({ resultTypes: ['violations'], runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes[0].target + ' ' + nodes[0].failureSummary))`,
  )
}
