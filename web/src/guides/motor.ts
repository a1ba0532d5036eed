import type { Content } from '../reading/blocks.ts'
import type { Wiring } from '../reading/wiring.ts'
import { guides } from './guide-cards.ts'
import lines from './motor.ino?highlight'

export const motorWiring: Wiring = {
  id: 'motor',
  title: 'A microcontroller board, an L298N motor driver, a motor and a battery holder',
  steps: [
    {
      text: [
        'Unplug the board and leave the batteries out. Take two jumper caps off the driver: that at ',
        { code: 'ENA' },
        ', which means full speed, and that behind the screws: its 5 V come from the board.',
      ],
      parts: [{ kind: 'driver' }],
    },
    {
      text: ['Screw one motor wire into ', { code: 'OUT1' }, '. Either one is right.'],
      parts: [{ kind: 'motor' }],
      wire: { from: 'motor.1', to: 'driver.OUT1', color: 'yellow' },
    },
    {
      text: ['Screw the other motor wire into ', { code: 'OUT2' }, '.'],
      wire: { from: 'motor.2', to: 'driver.OUT2', color: 'green' },
    },
    {
      text: ['Orange wire: from ', { strong: 'pin 9' }, ' to ', { code: 'ENA' }, ', the speed.'],
      wire: { from: 'board.9', to: 'driver.ENA', color: 'orange' },
    },
    {
      text: ['Blue wire: from ', { strong: 'pin 8' }, ' to ', { code: 'IN1' }, ', the direction.'],
      wire: { from: 'board.8', to: 'driver.IN1', color: 'blue' },
    },
    {
      text: ['Green wire: from ', { strong: 'pin 7' }, ' to ', { code: 'IN2' }, ', the direction.'],
      wire: { from: 'board.7', to: 'driver.IN2', color: 'green' },
    },
    {
      text: [
        'Black wire: from ',
        { strong: 'GND' },
        ' of the board to ',
        { code: 'GND' },
        ' of the driver. Board and driver need the same ground to understand each other.',
      ],
      wire: { from: 'board.GND', to: 'driver.GND', color: 'black' },
    },
    {
      text: [
        'Red wire: from ',
        { strong: '5V' },
        ' of the board to ',
        { code: '5V' },
        ' of the driver. It feeds the driver’s chip, not the motor.',
      ],
      wire: { from: 'board.5V', to: 'driver.5V', color: 'red' },
    },
    {
      text: ['Battery, black wire: from minus to ', { code: 'GND' }, ' of the driver as well.'],
      parts: [{ kind: 'battery', cells: 4 }],
      wire: { from: 'battery.minus', to: 'driver.GND', color: 'black' },
    },
    {
      text: [
        'Battery, red wire: from plus to ',
        { code: '12V' },
        ' of the driver. That is only its name: four cells give it 6 V.',
      ],
      wire: { from: 'battery.plus', to: 'driver.12V', color: 'red' },
    },
  ],
}

export const motorGuide: Content = {
  kicker: 'Guide',
  title: guides.motor.title,
  lead: 'A pin of the board can tell a motor what to do, but is far too weak to turn it. A driver sits between them: it takes orders from the board and power from the battery.',
  picture: guides.motor.picture,
  accent: 'blue',
  parent: { to: '/news-guides', text: 'News & Guides' },
  contents: true,
  sections: [
    {
      id: 'parts',
      title: 'What you need',
      blocks: [
        {
          kind: 'list',
          items: [
            '1 microcontroller board: an Arduino Uno, or one with the same pins',
            '1 L298N motor driver module',
            '1 small DC gear motor with two wires, made for 3 to 6 V',
            '1 battery holder for 4 AA cells, and the cells: 6 V',
            '5 jumper wires: 1 orange, 1 blue, 1 green, 1 black, 1 red',
            'A small screwdriver, a USB cable, and a computer with the Arduino IDE',
          ],
        },
      ],
    },
    {
      id: 'power',
      title: 'Power first',
      blocks: [
        [
          'The motor runs on the battery, the board on its USB cable. ',
          { strong: '6-9V' },
          ' are recommended for the battery; the driver’s limit is ',
          { strong: 'up to 12V' },
          '. The driver keeps about 2 V for itself: four AA cells with 6 V give the motor about 4 V. Don’t go higher with this motor: from 9 V it would get 7 V.',
        ],
        {
          kind: 'note',
          title: 'For the adult at the table',
          text: 'Put the batteries in last. Swapping plus and minus destroys the driver instantly, and bare battery wires that touch get hot. The small 9 V block is too much for this motor, and soon empty.',
        },
      ],
    },
    {
      id: 'wiring',
      title: 'Wire it',
      blocks: [{ kind: 'wiring', wiring: motorWiring }],
    },
    {
      id: 'code',
      title: 'Program it',
      blocks: [
        'Copy the sketch into the Arduino IDE and press Upload. Hold the motor, or set it where it can turn, before you put the batteries in.',
        { kind: 'sketch', sketch: { name: 'motor.ino', lines } },
      ],
    },
    {
      id: 'speed',
      title: 'Speed and direction',
      blocks: [
        [
          'The speed is a number from ',
          { strong: '0 to 255' },
          ' on pin 9: the pin is switched on and off about 490 times a second, and the number says for how much of that time it is on. 128 is half of it. Below about 60 most motors only hum.',
        ],
        'The direction is what the two other pins say:',
        {
          kind: 'table',
          caption: 'What the three pins make of the motor',
          head: ['ENA, pin 9', 'IN1, pin 8', 'IN2, pin 7', 'The motor'],
          rows: [
            ['1 to 255', 'HIGH', 'LOW', 'turns forward'],
            ['1 to 255', 'LOW', 'HIGH', 'turns backward'],
            ['255', 'LOW', 'LOW', 'brakes'],
            ['255', 'HIGH', 'HIGH', 'brakes'],
            ['0', 'any', 'any', 'coasts to a stop'],
          ],
        },
        'Which way is forward depends on how you screwed the motor in. Swap its two wires to reverse it.',
      ],
    },
    {
      id: 'troubleshooting',
      title: 'When it does not work',
      blocks: [
        {
          kind: 'troubles',
          items: [
            {
              symptom: 'Nothing happens at all',
              help: 'Is the light on the driver on? If not: check the red and the black wire between it and the board. If it is: are the batteries in the right way, and their screws tight?',
            },
            {
              symptom: 'The motor hums but does not turn',
              help: 'The number is too low, or the batteries are weak. Try 200, then fresh cells.',
            },
            {
              symptom: 'It only runs at full speed',
              help: [
                'The jumper cap is still on ',
                { code: 'ENA' },
                '. Take it off and put the orange wire on the one of the two pins that is in line with ',
                { code: 'IN1' },
                '.',
              ],
            },
            {
              symptom: 'It turns one way only',
              help: [
                'One of the two direction wires is loose or in the wrong place: pin 8 belongs to ',
                { code: 'IN1' },
                ', pin 7 to ',
                { code: 'IN2' },
                '.',
              ],
            },
            {
              symptom: 'The board restarts when the motor starts',
              help: 'The board’s 5V pin must not feed the motor: it goes to the driver’s 5V, the battery to 12V.',
            },
            {
              symptom: 'The driver gets too hot to touch',
              help: 'Take the batteries out. The motor is blocked or too big for it: the driver gives 2 A for each motor, and not for long.',
            },
          ],
        },
      ],
    },
    {
      id: 'next',
      title: 'What to try next',
      blocks: [
        {
          kind: 'list',
          items: [
            [
              'Add a second motor on ',
              { code: 'OUT3' },
              ' and ',
              { code: 'OUT4' },
              ', with ',
              { code: 'ENB' },
              ' on pin 3, ',
              { code: 'IN3' },
              ' on pin 5 and ',
              { code: 'IN4' },
              ' on pin 4: that is a rover.',
            ],
            'Start and stop gently: let the speed climb and fall in small steps, like a train.',
            [
              'Start the motor with the button from ',
              { to: '/guides/light-switch', text: 'the light switch guide' },
              '.',
            ],
            ['Need an exact angle instead of a speed? ', { to: '/guides/servo-guide', text: 'Turn a servo' }, '.'],
          ],
        },
      ],
    },
  ],
  next: [
    { to: '/guides/servo-guide', text: 'Next guide: the servo' },
    { to: '/robokidslanding', text: 'View Classes' },
  ],
}
