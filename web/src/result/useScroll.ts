import { useEffect, useLayoutEffect, useRef, useState } from 'react'

import { mostTop, ROW_PX, scrollOfTop, topOfScroll, trackPx, view } from './scroll.ts'

/** Where a grid of `count` rows is scrolled to, and the means to move it; exact for any count. */
export function useScroll(count: number) {
  const scroller = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 800, height: 400 })
  const [top, setTop] = useState(0)
  const [left, setLeft] = useState(0)
  const own = useRef<number | null>(null)
  const { height } = size
  const shown = view(top, count, height)
  const scrolled = scrollOfTop(shown.top, count, height)

  const moveTo = (wanted: number): void => {
    const next = Math.min(Math.max(0, wanted), mostTop(count, height))
    setTop(next)
    own.current = Math.round(scrollOfTop(next, count, height))
    if (scroller.current) scroller.current.scrollTop = own.current
  }
  const move = useRef(moveTo)
  const state = useRef({ top, count, height })
  useLayoutEffect(() => {
    move.current = moveTo
    state.current = { top: shown.top, count, height }
  })

  useEffect(() => {
    const box = scroller.current
    if (!box) return
    const resized = new ResizeObserver(() =>
      setSize({ width: box.clientWidth, height: Math.max(ROW_PX, box.clientHeight - ROW_PX) }),
    )
    resized.observe(box)
    const onScroll = (): void => {
      const { count, height } = state.current
      setLeft(box.scrollLeft)
      // A move of our own is exact already; reading it back would round it.
      if (own.current !== null && Math.abs(box.scrollTop - own.current) < 1) return
      own.current = null
      setTop(topOfScroll(box.scrollTop, count, height))
    }
    const onWheel = (event: WheelEvent): void => {
      const { top, count, height } = state.current
      const longerThanTrack = count * ROW_PX > trackPx(count)
      if (!longerThanTrack || event.ctrlKey || event.deltaY === 0) return
      event.preventDefault()
      move.current(top + event.deltaY * (event.deltaMode === 1 ? ROW_PX : 1))
      state.current = { top: Math.min(Math.max(0, top + event.deltaY), mostTop(count, height)), count, height }
    }
    box.addEventListener('scroll', onScroll, { passive: true })
    box.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      resized.disconnect()
      box.removeEventListener('scroll', onScroll)
      box.removeEventListener('wheel', onWheel)
    }
  }, [])
  return { scroller, ...size, left, shown: { ...shown, scrolled }, moveTo }
}
