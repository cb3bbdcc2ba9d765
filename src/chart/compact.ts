/** Invisible frames: without fill and stroke, or not displayed. */
const emptyFrame =
  /<path class="(?:background|foreground)"(?:(?! (?:fill|stroke)=)[^>])*\/>|<path class="foreground"[^>]* display="none"\/>/g

/** Default values, and roles of parts that are hidden by `role="img"`. */
const silentAttribute =
  / (?:aria-[a-z]+="[^"]*"|role="[^"]*"|class="[^"]*"|pointer-events="none"|opacity="1"|text-anchor="start")/g

/**
 * Shrinks a drawing to about half its bytes, with coordinates to a hundredth of a pixel. Only tags change, never text.
 */
export function compactSvg(svg: string): string {
  return svg
    .replace(emptyFrame, '')
    .replace(/<[^>]+>/g, (tag) =>
      tag
        .replace(silentAttribute, '')
        .replace(/\d+\.\d{3,}/g, (number) => String(Math.round(Number(number) * 100) / 100)),
    )
}
