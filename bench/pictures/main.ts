import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../../test/chromium.ts'
import { type Picture, pictures } from './list.ts'
import { type Scene, type SceneName, scenes } from './scenes.ts'

/**
 * Makes the pictures of README and docs anew: `npm run pictures`, or `npm run pictures -- search usage` for those of some scenes.
 * All take about eight minutes, of which a search takes four. It needs Chromium and a machine without other work.
 */
const images = resolve(import.meta.dirname, '../../docs/images')
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in scenes))
if (unknown.length > 0) {
  throw new Error(`expected some of ${Object.keys(scenes).join(', ')}; got ${unknown.join(', ')}`)
}

/** Of the service pages alone. */
const sessionOf = (cookie: string, url: string) => {
  const [name = '', value = ''] = cookie.split(/=(.*)/s)
  return { name, value, url }
}

async function take(browser: Browser, { shows }: Scene, picture: Picture): Promise<Uint8Array> {
  if ('png' in shows) return shows.png
  const { widthPx, heightPx, isDark = false } = picture
  const context = await browser.newContext({
    viewport: { width: widthPx, height: heightPx === 'whole' ? 900 : heightPx },
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    // A page for customers allows no script but its own, and is asked below whether it is loaded.
    bypassCSP: true,
  })
  if (shows.cookie !== undefined) await context.addCookies([sessionOf(shows.cookie, shows.url)])
  const page = await context.newPage()
  await page.goto(shows.url)
  if (shows.againAfterMs !== undefined) {
    await page.waitForTimeout(shows.againAfterMs)
    await page.reload()
  }
  // A page that is still loading, or that waits for its forecast, says so.
  await page.waitForFunction("!document.querySelector('[data-shell], [data-pending]')", null, {
    timeout: 120_000,
  })
  await page.waitForTimeout(1500)
  const png = await page.screenshot({ fullPage: heightPx === 'whole' })
  await context.close()
  return png
}

const browser = await openBrowser()
try {
  for (const name of Object.keys(scenes) as SceneName[]) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const folder = mkdtempSync(join(tmpdir(), 'assay-picture-'))
    const scene = await scenes[name](folder)
    for (const picture of pictures.filter((each) => each.scene === name)) {
      const png = await take(browser, scene, picture)
      writeFileSync(join(images, picture.file), png)
      process.stdout.write(`${picture.file}  ${(png.length / 1000).toFixed(0)} kB\n`)
    }
    await scene.close()
    rmSync(folder, { recursive: true })
  }
} finally {
  await browser.close()
}
