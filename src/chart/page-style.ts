import { readFileSync } from 'node:fs'
import { chartCss } from './theme.ts'

const base = new URL('../../src/chart/page.css', import.meta.url)

/** A page's whole style sheet: the variables of drawings, what every page begins with, its own. */
export function pageStyle(own: URL): string {
  return chartCss + readFileSync(base, 'utf8') + readFileSync(own, 'utf8')
}
