// Which rows are in view. Browsers clamp an element's height (Chromium at 33,554,428 px, Firefox
// lower), so above `MOST_PX` the scrollbar maps proportionally onto a longer, virtual height.

export const ROW_PX = 28
export const MOST_PX = 8_000_000

export interface View {
  /** How far the virtual height is scrolled. */
  top: number
  /** The first row to draw, and one past the last. */
  first: number
  end: number
}

/** The height of the scrolled element. */
export function trackPx(count: number): number {
  return Math.min(count * ROW_PX, MOST_PX)
}

/** The furthest `top`, for a viewport of `height`. */
export function mostTop(count: number, height: number): number {
  return Math.max(0, count * ROW_PX - height)
}

export function topOfScroll(scrollTop: number, count: number, height: number): number {
  const track = trackPx(count) - height
  return track <= 0 ? 0 : (Math.min(scrollTop, track) / track) * mostTop(count, height)
}

export function scrollOfTop(top: number, count: number, height: number): number {
  const most = mostTop(count, height)
  return most <= 0 ? 0 : (top / most) * (trackPx(count) - height)
}

export function view(top: number, count: number, height: number, margin = 8): View {
  const at = Math.min(Math.max(0, top), mostTop(count, height))
  const first = Math.max(0, Math.floor(at / ROW_PX) - margin)
  const end = Math.min(count, Math.ceil((at + height) / ROW_PX) + margin)
  return { top: at, first, end }
}

/** The `top` that brings a row into view with the least movement. */
export function topShowing(row: number, top: number, height: number): number {
  if (row * ROW_PX < top) return row * ROW_PX
  const past = (row + 1) * ROW_PX - height
  return past > top ? past : top
}
