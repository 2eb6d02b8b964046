-- The sample warehouse: a grocer that sells to households, small shops, offices and restaurants.
--
-- Everything follows from the variables that generate.py sets: no value
-- depends on the clock, on threads or on insertion order. Each section is one statement, run in
-- this order; the two about a month are run once for each.
--
-- u(a, b) is a number in [0, 1): the b-th roll of the dice for thing a.

-- name: dice
CREATE TEMP MACRO u(a, b) AS (hash(a, b, getvariable('seed')) >> 11) / 9007199254740992.0;

-- name: segment
CREATE TEMP MACRO segment_of(customer_id) AS
  CASE WHEN u(customer_id, 1) < 0.72 THEN 'Household'
       WHEN u(customer_id, 1) < 0.84 THEN 'Small business'
       WHEN u(customer_id, 1) < getvariable('restaurants_from') THEN 'Office'
       ELSE 'Restaurant' END;

-- name: season
-- How busy a day is: the shop grows by about 70 % over the two years, is busiest at weekends and
-- before Christmas, and quiet in January and August.
CREATE TEMP MACRO weight_of(day) AS
  (1 + 0.7 * date_diff('day', getvariable('start_day'), day) / 730.0)
  * [1.12, 0.94, 0.92, 0.95, 1.0, 1.14, 1.3][1 + dayofweek(day)]
  * [0.86, 0.92, 0.97, 1.0, 1.02, 1.0, 0.97, 0.9, 0.98, 1.03, 1.15, 1.38][month(day)]
  * (0.93 + 0.14 * u(day, 2))
  -- The end day is loaded in the morning, so it has its first hours only.
  * if(day = getvariable('end_day'), 0.25, 1.0);

-- name: share of time
CREATE TEMP MACRO before_share(day) AS
  date_diff('day', getvariable('start_day'), day) / getvariable('day_count')::DOUBLE;

-- name: products
CREATE TABLE products (
  product_id INTEGER PRIMARY KEY,
  name VARCHAR NOT NULL,
  category VARCHAR NOT NULL,
  unit_price DECIMAL(10, 2) NOT NULL
);

-- name: fill products
INSERT INTO products
SELECT place, name, category, unit_price::DECIMAL(10, 2)
FROM (SELECT unnest(getvariable('product_rows'), recursive := true))
ORDER BY place;

-- name: wheel
-- A wheel of 10 000 slots for each theme of a basket (0: anything) says which product a roll is.
-- Popularity falls with a rank that has nothing to do with the catalogue's order.
CREATE TEMP TABLE wheel AS
WITH ranked AS (
  SELECT place, theme, 1 / pow(row_number() OVER (ORDER BY u(place, 3)), 0.75) AS popularity
  FROM (SELECT unnest(getvariable('product_rows'), recursive := true))
), themed AS (
  SELECT 0 AS theme_number, place, popularity FROM ranked
  UNION ALL
  SELECT dense_rank() OVER (ORDER BY theme), place, sqrt(popularity) FROM ranked WHERE theme <> ''
), turned AS (
  SELECT theme_number, place,
         10000 * sum(popularity) OVER up_to / sum(popularity) OVER whole AS upper_slot,
         10000 * (sum(popularity) OVER up_to - popularity) / sum(popularity) OVER whole AS lower_slot
  FROM themed
  WINDOW up_to AS (PARTITION BY theme_number ORDER BY place ROWS UNBOUNDED PRECEDING),
         whole AS (PARTITION BY theme_number)
)
SELECT 10000 * theme_number + unnest(range(round(lower_slot)::BIGINT, round(upper_slot)::BIGINT))
         AS slot,
       place::INTEGER AS product_id
FROM turned;

-- name: customers
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  name VARCHAR NOT NULL,
  country VARCHAR NOT NULL,
  city VARCHAR NOT NULL,
  segment VARCHAR NOT NULL,
  joined_on DATE NOT NULL
);

-- name: fill customers
-- Half of them joined in the three years before the first order, the others since, ever faster.
INSERT INTO customers
WITH places AS (
  SELECT country, city,
         (sum(weight) OVER (ORDER BY place) - weight) / sum(weight) OVER () AS from_share,
         sum(weight) OVER (ORDER BY place) / sum(weight) OVER () AS to_share
  FROM (SELECT unnest(getvariable('place_rows'), recursive := true))
), people AS (
  SELECT range::INTEGER AS customer_id, u(range, 4) AS roll, range / getvariable('customer_count') AS share,
         list_extract(getvariable('first_names'),
                      1 + floor(u(range, 5) * len(getvariable('first_names')))::BIGINT) AS first_name,
         list_extract(getvariable('last_names'),
                      1 + floor(u(range, 6) * len(getvariable('last_names')))::BIGINT) AS last_name
  FROM range(1, getvariable('customer_count') + 1)
)
SELECT customer_id,
       CASE segment_of(customer_id)
         WHEN 'Household' THEN first_name || ' ' || last_name
         WHEN 'Restaurant' THEN last_name || ['''s Kitchen', ' Bistro', ' Trattoria', ' Grill', ' & Sons Catering'][1 + floor(u(customer_id, 7) * 5)::BIGINT]
         WHEN 'Office' THEN last_name || [' Partners', ' Consulting', ' Studio', ' Software', ' Legal'][1 + floor(u(customer_id, 7) * 5)::BIGINT]
         ELSE last_name || [' Corner Shop', ' Deli', ' Bakery', ' Cafe', ' Market'][1 + floor(u(customer_id, 7) * 5)::BIGINT]
       END,
       country, city, segment_of(customer_id),
       CASE WHEN share < 0.5
            THEN getvariable('start_day') - (1095 * pow(1 - 2 * share, 0.8))::INTEGER
            ELSE getvariable('start_day') + (getvariable('day_count') * pow(2 * share - 1, 0.8))::INTEGER
       END
FROM people
JOIN places ON roll >= from_share AND roll < to_share
ORDER BY customer_id;

-- name: days
-- How many orders a day has, the first of their numbers, and how many customers there were.
CREATE TEMP TABLE days AS
WITH weighed AS (
  SELECT range::DATE AS day, weight_of(range::DATE) AS weight
  FROM range(getvariable('start_day')::TIMESTAMP, getvariable('end_day') + INTERVAL 1 DAY, INTERVAL 1 DAY)
), counted AS (
  SELECT day, ceil(getvariable('order_target') * weight / sum(weight) OVER ())::BIGINT AS order_count
  FROM weighed
), joined AS (
  SELECT joined_on, max(customer_id) AS known FROM customers GROUP BY joined_on
)
SELECT day, order_count, sum(order_count) OVER (ORDER BY day) - order_count AS before, known
FROM counted ASOF JOIN joined ON day >= joined_on
ORDER BY day;

-- name: orders
CREATE TABLE orders (
  order_id BIGINT NOT NULL,
  customer_id INTEGER NOT NULL,
  ordered_at TIMESTAMP NOT NULL,
  channel VARCHAR NOT NULL,
  status VARCHAR NOT NULL
);

-- name: order lines
-- Keys of these two are not declared: checking them for every line would take longer than
-- everything else, and a warehouse loaded in bulk seldom declares them.
CREATE TABLE order_lines (
  order_id BIGINT NOT NULL,
  line_number INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  quantity INTEGER NOT NULL,
  unit_price DECIMAL(10, 2) NOT NULL
);

-- name: month of orders
-- A quarter of the orders come from one customer in twenty. Within a day orders follow the
-- quantiles of a logistic curve around two in the afternoon, so numbers rise with time.
INSERT INTO orders
WITH placed AS (
  SELECT before + n + 1 AS order_id, day, known,
         (n + u(before + n, 10)) / order_count * if(day = getvariable('end_day'), 0.25, 1.0) AS part
  FROM (SELECT *, unnest(range(order_count)) AS n FROM days
        WHERE day >= getvariable('month_from') AND day < getvariable('month_to'))
)
SELECT order_id,
       CASE WHEN u(order_id, 11) < 0.25
            THEN greatest(1, 20 * floor(u(order_id, 12) * (known // 20)))
            ELSE 1 + floor(u(order_id, 12) * known) END::INTEGER,
       day + to_seconds(greatest(0, least(86399, floor(3600 * (14 + 2.2 * ln(part / (1 - part))))))::INTEGER),
       CASE WHEN u(order_id, 13) < 0.30 + 0.20 * before_share(day) THEN 'Mobile app'
            WHEN u(order_id, 13) < 0.78 THEN 'Website'
            WHEN u(order_id, 13) < 0.90 THEN 'Store'
            WHEN u(order_id, 13) < 0.96 THEN 'Marketplace'
            ELSE 'Phone' END,
       CASE WHEN u(order_id, 14) < 0.03 THEN 'Cancelled'
            WHEN date_diff('day', day, getvariable('end_day')) < 1 THEN 'Processing'
            WHEN date_diff('day', day, getvariable('end_day')) < 4 THEN 'Shipped'
            WHEN u(order_id, 14) < 0.055 THEN 'Returned'
            ELSE 'Delivered' END
FROM placed
ORDER BY order_id;

-- name: month of order lines
-- A basket has a theme, from which 45 % of its rolls come: that is what makes some products sell
-- together. Restaurants fill theirs with up to 220 rolls. A product rolled twice is one
-- line with a higher quantity.
INSERT INTO order_lines
WITH baskets AS (
  SELECT order_id, ordered_at, segment_of(customer_id) AS segment,
         CASE WHEN month(ordered_at) BETWEEN 5 AND 8 AND u(order_id, 20) < 0.2
              THEN getvariable('summer_theme')
              ELSE 1 + floor(u(order_id, 21) * getvariable('theme_count')) END::BIGINT AS theme
  FROM orders
  WHERE ordered_at >= getvariable('month_from') AND ordered_at < getvariable('month_to')
), rolls AS (
  SELECT order_id, ordered_at, segment, theme,
         unnest(range(CASE segment
           WHEN 'Household' THEN 1 + floor(16 * pow(u(order_id, 22), 1.5))
           WHEN 'Small business' THEN 3 + floor(30 * pow(u(order_id, 22), 1.4))
           WHEN 'Office' THEN 2 + floor(18 * u(order_id, 22))
           ELSE 60 + floor(160 * pow(u(order_id, 22), 1.1)) END::BIGINT)) AS roll
  FROM baskets
), picked AS (
  SELECT order_id, product_id, any_value(ordered_at) AS ordered_at, any_value(segment) AS segment,
         count(*) AS times
  FROM rolls
  JOIN wheel ON slot = 10000 * if(u(order_id, 100 + roll) < 0.45, theme, 0)
                       + floor(10000 * u(order_id, 1000 + roll))::BIGINT
  GROUP BY order_id, product_id
)
SELECT order_id, row_number() OVER (PARTITION BY order_id ORDER BY product_id),
       product_id,
       times + floor(pow(u(order_id, 5000 + product_id), 3)
                     * if(segment IN ('Restaurant', 'Small business'), 12, 3)),
       -- Prices rose by 6 % over the two years; restaurants pay 8 % less.
       products.unit_price * (0.94 + 0.06 * before_share(ordered_at::DATE))
         * if(segment = 'Restaurant', 0.92, 1.0)
FROM picked
JOIN products USING (product_id)
ORDER BY order_id;

-- name: say what is what
COMMENT ON TABLE customers IS 'Everyone who has ordered or could: households, shops, offices, restaurants';
COMMENT ON TABLE products IS 'The catalogue, with today''s list prices';
COMMENT ON TABLE orders IS 'One row for each order';
COMMENT ON TABLE order_lines IS 'One row for each product in an order';
COMMENT ON COLUMN order_lines.unit_price IS 'What one piece cost in this order';
COMMENT ON COLUMN products.unit_price IS 'Today''s list price of one piece';
