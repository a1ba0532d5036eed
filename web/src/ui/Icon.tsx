const paths = {
  down: 'm3 6 5 5 5-5',
  previous: 'm10 3-5 5 5 5',
  next: 'm6 3 5 5-5 5',
  menu: 'M2 4.5h12M2 8h12M2 11.5h12',
  close: 'm3.5 3.5 9 9m0-9-9 9',
  done: 'm3.5 8.5 3 3 6-7',
  play: 'M4 2.5 13 8l-9 5.5z',
  pause: 'M5 3.5v9m6-9v9',
  warning: 'M8 1.5 15 14H1zM8 6v4m0 2v.2',
}

type IconName = keyof typeof paths
export const iconNames = Object.keys(paths) as IconName[]

interface IconProps {
  name: IconName
  /** Width and height, in pixels. */
  size?: number
}

/** A decorative icon in the text's color, hidden from screen readers. */
export function Icon({ name, size = 16 }: IconProps) {
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path
        d={paths[name]}
        fill={name === 'play' ? 'currentColor' : 'none'}
        stroke="currentColor"
        strokeWidth={name === 'warning' ? 1.6 : 2}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
