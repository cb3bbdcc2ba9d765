import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = [
  process.env.ASSAY_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const executablePath = places.find((place) => place !== undefined && existsSync(place))

/**
 * Whether Chromium can run here. A test that needs it is skipped with this reason, except in CI,
 * where a missing browser is a failure: `describe.skipIf(!canBrowse)('… (needs chromium: apt-get
 * install chromium)', …)`
 */
export const canBrowse = executablePath !== undefined || process.env.CI !== undefined

/** Headless Chromium without network traffic of its own. */
export function openBrowser(): Promise<Browser> {
  if (executablePath === undefined) {
    throw new Error(
      'no Chromium found: apt-get install chromium, or set ASSAY_CHROMIUM to its path',
    )
  }
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
