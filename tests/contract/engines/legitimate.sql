-- Statements that analysts write over the shop, one a line, each under the engines whose dialect
-- it is in. All of them only read, whatever words they hold; each must pass the guard and run.

-- engines: duckdb sqlite postgres mariadb sqlalchemy
SELECT 1;
select 1 -- a comment; with DROP TABLE in it
SELECT 1 /* a comment; DELETE FROM orders; */ AS one
SELECT 'drop table orders; delete from orders' AS said
SELECT 'it''s; --not a comment' AS said
SELECT status AS update_time, count(*) AS "delete" FROM orders GROUP BY status
SELECT status AS "insert into", channel AS "grant", order_id AS "set" FROM orders LIMIT 3
SELECT count(*) AS created, count(DISTINCT customer_id) AS updated FROM orders
WITH deleted AS (SELECT * FROM orders WHERE status = 'cancelled') SELECT count(*) FROM deleted
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t
WITH RECURSIVE days(d) AS (SELECT 0 UNION ALL SELECT d + 1 FROM days WHERE d < 29) SELECT d, d * d FROM days
WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f WHERE b < 1000) SELECT a FROM f
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b
SELECT row_number() OVER (PARTITION BY channel ORDER BY ordered_at) FROM orders LIMIT 5
SELECT order_id, rank() OVER (ORDER BY customer_id) FROM orders LIMIT 5
SELECT order_id, dense_rank() OVER (ORDER BY customer_id DESC) FROM orders LIMIT 5
SELECT order_id, ntile(4) OVER (ORDER BY ordered_at) FROM orders LIMIT 5
SELECT order_id, lag(ordered_at) OVER (PARTITION BY customer_id ORDER BY ordered_at) FROM orders
SELECT order_id, lead(ordered_at, 1) OVER (PARTITION BY customer_id ORDER BY ordered_at) FROM orders
SELECT order_id, first_value(order_id) OVER w, last_value(order_id) OVER w FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY ordered_at)
SELECT order_id, nth_value(order_id, 2) OVER (ORDER BY order_id) FROM orders
SELECT order_id, percent_rank() OVER (ORDER BY customer_id), cume_dist() OVER (ORDER BY customer_id) FROM orders
SELECT order_id, sum(quantity) OVER (PARTITION BY order_id ORDER BY line_number ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM order_lines
SELECT order_id, avg(quantity) OVER (ORDER BY order_id, line_number ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM order_lines
SELECT order_id, count(*) OVER (ORDER BY order_id RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING) FROM orders
SELECT * FROM orders ORDER BY ordered_at DESC LIMIT 10 OFFSET 5
SELECT DISTINCT country FROM customers ORDER BY country
SELECT country, city, count(*) FROM customers GROUP BY country, city HAVING count(*) > 1 ORDER BY 3 DESC
SELECT name FROM customers UNION SELECT name FROM products
SELECT customer_id FROM customers EXCEPT SELECT customer_id FROM orders
SELECT customer_id FROM customers INTERSECT SELECT customer_id FROM orders
SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 3 ORDER BY x DESC LIMIT 2
SELECT o.order_id, c.name FROM orders o JOIN customers c ON c.customer_id = o.customer_id
SELECT o.order_id, c.name FROM orders o JOIN customers c USING (customer_id)
SELECT c.name, o.order_id FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id WHERE o.order_id IS NULL
SELECT c.name, o.order_id FROM customers c RIGHT JOIN orders o USING (customer_id)
SELECT a.name, b.name FROM products a CROSS JOIN products b WHERE a.product_id < b.product_id
SELECT * FROM orders NATURAL JOIN customers LIMIT 3
SELECT a.order_id FROM orders a, orders b WHERE a.customer_id = b.customer_id AND a.order_id < b.order_id LIMIT 5
SELECT name FROM customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE status = 'returned')
SELECT name FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders)
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)
SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)
SELECT name, (SELECT count(*) FROM orders o WHERE o.customer_id = c.customer_id) AS n FROM customers c
SELECT name FROM products WHERE unit_price > (SELECT avg(unit_price) FROM products)
SELECT name FROM customers WHERE name LIKE 'A%'
SELECT name FROM customers WHERE name NOT LIKE '%er-%'
SELECT name FROM products WHERE unit_price BETWEEN 10 AND 50
SELECT name FROM products WHERE unit_price NOT BETWEEN 10 AND 50
SELECT name FROM products WHERE category IN ('Toys', 'Books')
SELECT name FROM customers WHERE city IS NOT NULL
SELECT name FROM customers WHERE (country, city) = ('France', 'Paris')
SELECT name FROM customers WHERE (country, city) IN (('France', 'Paris'), ('Italy', 'Rome'))
SELECT CASE WHEN unit_price < 20 THEN 'cheap' WHEN unit_price < 100 THEN 'middling' ELSE 'dear' END AS class, count(*) FROM products GROUP BY 1
SELECT CASE status WHEN 'pending' THEN 1 ELSE 0 END FROM orders
SELECT coalesce(NULL, 'x'), nullif(1, 1)
SELECT upper(name), lower(name), length(name) FROM customers
SELECT trim('  x '), ltrim('  x'), rtrim('x  '), replace('abc', 'b', 'x')
SELECT substr(name, 1, 3), substring(name, 2, 2) FROM customers
SELECT name || ' (' || country || ')' FROM customers
SELECT format('%s-%s', name, city) FROM customers
SELECT abs(-1), round(2.567, 1), ceil(1.2), floor(1.8)
SELECT sqrt(2), power(2, 10), exp(1), ln(10), sign(-3)
SELECT mod(10, 3), 10 % 3, 10 / 4, 10 / 4.0
SELECT sin(1), cos(1), tan(1), atan2(1, 2), pi()
SELECT cast(unit_price AS integer), cast(product_id AS varchar(10)) FROM products
SELECT cast('12' AS integer) + 1
SELECT avg(unit_price), sum(unit_price), min(unit_price), max(unit_price), count(unit_price) FROM products
SELECT count(DISTINCT customer_id), count(DISTINCT channel) FROM orders
SELECT sum(DISTINCT quantity) FROM order_lines
SELECT ordered_at - joined_on FROM orders JOIN customers USING (customer_id)
SELECT current_date, current_timestamp
SELECT 1 AS "a b", 2 AS "'", 3 AS """"
SELECT '☃', "customer_id" FROM customers
SELECT 'ünïcödé' AS "Größe", count(*) FROM customers
SELECT 1 -- -(-(-(-(-(-(-(-(-(-(
SELECT true AND NOT false OR true
SELECT 5 & 3, 5 | 3, 1 << 4, 8 >> 1
SELECT -(-1), +1, - - 1
SELECT NULL IS NULL, 1 IS NOT NULL, (1 = 1) IS TRUE
SELECT count(*) FROM (SELECT DISTINCT order_id, product_id FROM order_lines) AS pairs
SELECT o.status, sum(l.quantity * l.unit_price) AS revenue FROM orders o JOIN order_lines l USING (order_id) GROUP BY o.status ORDER BY revenue DESC
SELECT c.segment, count(DISTINCT o.order_id) * 1.0 / count(DISTINCT c.customer_id) FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY c.segment
WITH first_orders AS (SELECT customer_id, min(ordered_at) AS at FROM orders GROUP BY customer_id) SELECT count(*) FROM first_orders f JOIN orders o ON o.customer_id = f.customer_id AND o.ordered_at > f.at
WITH ranked AS (SELECT p.category, p.name, row_number() OVER (PARTITION BY p.category ORDER BY p.unit_price DESC) AS place FROM products p) SELECT category, name FROM ranked WHERE place = 1
WITH r AS (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) SELECT ntile(5) OVER (ORDER BY n) AS fifth, customer_id FROM r
WITH MATERIALIZED_NAME AS (SELECT 1 AS x) SELECT x FROM materialized_name
SELECT a.product_id, b.product_id, count(*) AS together FROM order_lines a JOIN order_lines b ON a.order_id = b.order_id AND a.product_id < b.product_id GROUP BY 1, 2 ORDER BY together DESC LIMIT 10
SELECT sum(CASE WHEN status = 'returned' THEN 1 ELSE 0 END) * 100.0 / count(*) AS returned_percent FROM orders
SELECT similarity FROM (SELECT 1 AS similarity) AS s
SELECT name FROM products ORDER BY unit_price DESC LIMIT 3 OFFSET 0
SELECT name FROM products WHERE name <> '' AND name != 'x'
SELECT name FROM products WHERE NOT (unit_price > 10 AND category = 'Toys')
SELECT sum(quantity) AS "sum; drop" FROM order_lines
SELECT max(ordered_at) - min(ordered_at) FROM orders
SELECT count(*), country FROM customers GROUP BY country ORDER BY count(*) DESC, country
SELECT country FROM customers GROUP BY country HAVING count(*) > (SELECT count(*) / 10 FROM customers)
SELECT status, channel, count(*) FROM orders WHERE ordered_at >= '2025-01-01' AND ordered_at < '2026-01-01' GROUP BY status, channel
SELECT o.order_id, sum(l.quantity) FROM orders o INNER JOIN order_lines l ON (o.order_id = l.order_id) WHERE o.status IN ('delivered', 'pending') GROUP BY o.order_id HAVING sum(l.quantity) > 10
SELECT p.name, coalesce(sum(l.quantity), 0) FROM products p LEFT OUTER JOIN order_lines l ON l.product_id = p.product_id GROUP BY p.name ORDER BY 2
SELECT x.* FROM (SELECT * FROM orders) AS x WHERE x.order_id < 10
SELECT orders.*, customers.name FROM orders, customers WHERE orders.customer_id = customers.customer_id LIMIT 2
SELECT (SELECT max(order_id) FROM orders) AS newest, (SELECT count(*) FROM customers) AS people
SELECT sum(x) FROM (SELECT quantity AS x FROM order_lines UNION ALL SELECT -quantity FROM order_lines) AS both_ways
SELECT EXISTS (SELECT 1 FROM orders WHERE status = 'lost')
SELECT customer_id AS "customer", count(*) AS "how many" FROM orders GROUP BY "customer_id" ORDER BY "how many" DESC
select a.name, b.name, count(*) n from (select distinct order_id, product_id from order_lines) x join (select distinct order_id, product_id from order_lines) y on x.order_id=y.order_id and x.product_id<y.product_id join products a on a.product_id=x.product_id join products b on b.product_id=y.product_id group by x.product_id, y.product_id, a.name, b.name order by n desc, x.product_id, y.product_id limit 10
select count(*) from customers
select c.country, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) group by 1
select customer_id, name from customers where customer_id not in (select customer_id from orders)
select p.category, sum(l.quantity) from order_lines l join products p using (product_id) group by 1 order by 2 desc limit 1
select o.order_id from orders o join customers c using (customer_id) where c.country='Germany'
select country, count(*) from customers group by 1
select product_id, name from products where category='Toys'
select product_id, name, unit_price from products where unit_price>100
select country, count(*) from customers group by 1 order by 2 desc limit 1
select sum(l.quantity*l.unit_price) from order_lines l
select count(*) from orders
select customer_id, name from customers where country='France'
select status, count(*) from orders group by 1
select count(*) from orders where status='cancelled'
select channel, count(*) from orders group by 1
select category, avg(unit_price) from products group by 1
select avg(unit_price) from products
select name, unit_price from products order by unit_price limit 1
select name, unit_price from products order by unit_price desc limit 10
select c.name, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) group by c.customer_id, c.name order by 2 desc limit 5
select c.name, count(*) from orders o join customers c using (customer_id) group by c.customer_id, c.name having count(*)>5
select product_id, name from products where product_id not in (select product_id from order_lines)
select category, count(*) from products group by 1
select p.name, sum(l.quantity) from order_lines l join products p using (product_id) group by p.product_id, p.name
select count(distinct country) from customers
select distinct city from customers
select distinct category from products
select c.city, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) where c.country='Germany' group by 1
select sum(l.quantity*l.unit_price) from order_lines l join products p using (product_id) where p.category in ('Toys','Books')
select count(distinct o.customer_id) from order_lines l join orders o using (order_id) join products p using (product_id) where p.category='Toys'
select p.category, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) join products p using (product_id) where c.segment='Business' group by 1
select order_id, ordered_at from orders order by ordered_at desc limit 1
with r as (select c.country, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) join customers c using (customer_id) group by 1), n as (select c.country, count(*) n from orders o join customers c using (customer_id) group by 1) select n.country, v, n from n left join r using (country)
select o.order_id from orders o join customers c using (customer_id) where c.country <> 'Germany'
select p.category, sum(l.quantity*l.unit_price) / (select sum(l.quantity*l.unit_price) from order_lines l) from order_lines l join products p using (product_id) group by 1
select p.category, sum(l.quantity*l.unit_price) from order_lines l join products p using (product_id) group by 1 order by 2 limit 3
select product_id, name from products where unit_price between 20 and 50
select c.name from orders o join customers c using (customer_id) group by c.customer_id, c.name having count(*)>=8
select p.category, sum(l.quantity) from order_lines l join products p using (product_id) group by 1
select name, city from customers where country='Italy'
select c.country, count(*) from orders o join customers c using (customer_id) where o.status='returned' group by 1
select c.city, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) group by 1 order by 2 desc limit 3
with r as (select o.channel, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by 1), n as (select channel, count(*) n from orders group by 1) select channel, n, v from n join r using (channel)
select (select sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) where c.country='Germany') / (select sum(l.quantity*l.unit_price) from order_lines l)
select avg(case when status='cancelled' then 1.0 else 0 end) from orders where channel='web'
select c.name, count(o.order_id) from customers c left join orders o using (customer_id) group by c.customer_id, c.name having count(o.order_id)<2
select count(*) from products
select c.city, count(*) from orders o join customers c using (customer_id) group by 1 order by 2 desc limit 1
select c.country, count(*) from orders o join customers c using (customer_id) group by 1 order by 2 desc limit 3
select customer_id, name from customers where city='Berlin'
select count(*) from customers where customer_id not in (select customer_id from orders)
select segment, count(*) from customers group by 1
select sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) where c.segment='Business' and c.country='Germany'
select name, unit_price from products order by unit_price desc limit 1
select count(*) from orders where channel='phone' and status='returned'
select c.name, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) group by c.customer_id, c.name
select product_id, name from products where category='Books' and unit_price<20
select o.channel, c.segment, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) group by 1,2
select category, min(unit_price) from products group by 1
select c.segment, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) group by 1 order by 2 desc limit 1
select c.country, o.channel, count(*) from orders o join customers c using (customer_id) group by 1,2
select customer_id, name from customers where country in ('France','Spain')
select avg(quantity) from order_lines
select max(ordered_at) from orders
select name, joined_on from customers order by joined_on limit 1
select count(*) from orders where status='pending'
select distinct p.product_id, p.name from order_lines l join orders o using (order_id) join customers c using (customer_id) join products p using (product_id) where c.country='Italy'
select distinct p.product_id, p.name from order_lines l join orders o using (order_id) join customers c using (customer_id) join products p using (product_id) where c.city='Paris'
select p.category, sum(l.quantity) from order_lines l join products p using (product_id) group by 1 order by 2 limit 1
select count(*) from customers where country in ('Germany','France')

-- engines: duckdb sqlite postgres mariadb
SELECT concat(name, ' ', city) FROM customers
SELECT concat_ws(', ', name, city, country) FROM customers

-- engines: duckdb sqlite postgres sqlalchemy
SELECT "status" AS "select", "channel" AS "from" FROM "orders" WHERE "status" = 'pending'
WITH "update" AS (SELECT 1 AS x) SELECT x FROM "update"
SELECT order_id, sum(quantity) FILTER (WHERE quantity > 2) OVER (PARTITION BY order_id) FROM order_lines
SELECT count(*) FILTER (WHERE status = 'delivered') AS delivered, count(*) AS everything FROM orders
SELECT channel, count(*) FILTER (WHERE status = 'returned') * 1.0 / count(*) AS rate FROM orders GROUP BY channel
VALUES (1, 'a'), (2, 'b')
SELECT c.customer_id, o.order_id FROM customers c FULL JOIN orders o ON o.customer_id = c.customer_id
SELECT name FROM customers WHERE name LIKE '50\%' ESCAPE '\'
SELECT name FROM customers WHERE city IS DISTINCT FROM country
SELECT random() < 2
SELECT name FROM customers ORDER BY country NULLS LAST, name DESC NULLS FIRST
WITH monthly AS (SELECT substr(cast(ordered_at AS text), 1, 7) AS month, count(*) AS n FROM orders GROUP BY 1) SELECT month, n, n - lag(n) OVER (ORDER BY month) AS change FROM monthly
WITH m AS MATERIALIZED (SELECT * FROM orders) SELECT count(*) FROM m
WITH m AS NOT MATERIALIZED (SELECT * FROM orders) SELECT count(*) FROM m

-- engines: duckdb sqlite postgres
SELECT string_agg(name, ', ') FROM products
SELECT string_agg(name, ', ' ORDER BY name) FROM products
SELECT * FROM json_each('{"a": 1, "b": 2}')

-- engines: duckdb postgres
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY unit_price) FROM products
SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY unit_price) AS p90, percentile_disc(0.9) WITHIN GROUP (ORDER BY unit_price) AS d90 FROM products
SELECT category, percentile_cont(0.5) WITHIN GROUP (ORDER BY unit_price) FROM products GROUP BY category
SELECT mode() WITHIN GROUP (ORDER BY status) FROM orders
SELECT * FROM orders ORDER BY ordered_at DESC FETCH FIRST 10 ROWS ONLY
SELECT DISTINCT ON (customer_id) customer_id, order_id, ordered_at FROM orders ORDER BY customer_id, ordered_at DESC
SELECT country, city, count(*) FROM customers GROUP BY ROLLUP (country, city)
SELECT country, segment, count(*) FROM customers GROUP BY CUBE (country, segment)
SELECT country, segment, count(*) FROM customers GROUP BY GROUPING SETS ((country), (segment), ())
SELECT country, GROUPING(country), count(*) FROM customers GROUP BY ROLLUP (country)
(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s)
SELECT name FROM products WHERE unit_price >= ALL (SELECT unit_price FROM products)
SELECT name FROM products WHERE unit_price > ANY (SELECT unit_price FROM products WHERE category = 'Books')
SELECT name, x.n FROM customers c, LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer_id = c.customer_id) x
SELECT c.name, x.order_id FROM customers c LEFT JOIN LATERAL (SELECT order_id FROM orders o WHERE o.customer_id = c.customer_id ORDER BY ordered_at DESC LIMIT 1) x ON true
SELECT name FROM customers WHERE name ILIKE 'a%'
SELECT name FROM customers WHERE name ~ '^[A-C]'
SELECT name FROM customers WHERE name SIMILAR TO '(A|B)%'
SELECT regexp_replace(name, '[0-9]+', '#') FROM customers
SELECT regexp_replace(name, '[aeiou]', '', 'g') FROM customers
SELECT substring(name FROM 1 FOR 3) FROM customers
SELECT position('a' IN name) FROM customers
SELECT left(name, 3), right(name, 3) FROM customers
SELECT lpad(name, 20, '.'), rpad(name, 20, '.') FROM customers
SELECT split_part(name, ' ', 1) FROM customers
SELECT reverse(name), repeat('x', 3) FROM customers
SELECT array_agg(name ORDER BY unit_price DESC) FROM products
SELECT greatest(1, 2, 3), least(1, 2, 3)
SELECT unit_price::integer, product_id::text FROM products
SELECT stddev(unit_price), variance(unit_price) FROM products
SELECT stddev_pop(unit_price), var_samp(unit_price) FROM products
SELECT corr(quantity, unit_price), regr_slope(quantity, unit_price) FROM order_lines
SELECT covar_pop(quantity, unit_price) FROM order_lines
SELECT bool_and(unit_price > 1), bool_or(unit_price > 100) FROM products
SELECT bit_and(quantity), bit_or(quantity) FROM order_lines
SELECT date_trunc('month', ordered_at), count(*) FROM orders GROUP BY 1 ORDER BY 1
SELECT extract(year FROM ordered_at), extract(dow FROM ordered_at), count(*) FROM orders GROUP BY 1, 2
SELECT date_part('quarter', ordered_at) FROM orders
SELECT extract(epoch FROM ordered_at) FROM orders
SELECT ordered_at + interval '1 day' FROM orders
SELECT ordered_at - interval '3 months' FROM orders
SELECT age(ordered_at) FROM orders
SELECT age(ordered_at, timestamp '2024-01-01') FROM orders
SELECT now(), current_date, current_timestamp
SELECT make_date(2025, 1, 31)
SELECT date '2025-01-31' + 1
SELECT timestamp '2025-01-31 10:00:00' AT TIME ZONE 'Europe/Berlin'
SELECT generate_series FROM generate_series(1, 5)
SELECT d FROM generate_series(date '2025-01-01', date '2025-01-31', interval '1 day') AS t(d)
SELECT m.d, count(o.order_id) FROM generate_series(timestamp '2025-01-01', timestamp '2025-12-01', interval '1 month') AS m(d) LEFT JOIN orders o ON date_trunc('month', o.ordered_at) = m.d GROUP BY m.d
SELECT unnest(ARRAY[1, 2, 3])
SELECT * FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS t(x, n)
SELECT 2 = ANY (ARRAY[1, 2, 3])
SELECT array_length(ARRAY[1, 2, 3], 1), cardinality(ARRAY[1, 2])
SELECT '{"a": 1}'::json ->> 'a'
SELECT row_to_json(p) FROM products p
SELECT md5(name) FROM customers
SELECT gen_random_uuid() IS NOT NULL
SELECT * FROM orders TABLESAMPLE SYSTEM (50) REPEATABLE (7)
SELECT customer_id, name FROM customers ORDER BY name COLLATE "C"
SELECT table_name, column_name FROM information_schema.columns WHERE table_name = 'orders'
SELECT table_name FROM information_schema.tables
SELECT relname FROM pg_class WHERE relname = 'orders'
SELECT schemaname, tablename FROM pg_catalog.pg_tables WHERE tablename = 'orders'
TABLE products
SELECT $$it's; a 'dollar' text$$ AS said
SELECT $tag$; DROP TABLE orders; $tag$ AS said
SELECT E'a\nb\'c' AS said
SELECT pg_typeof(unit_price) FROM products
SELECT current_user IS NOT NULL
SELECT version() IS NOT NULL
SELECT overlay('abcdef' PLACING 'xx' FROM 2 FOR 3)
SELECT translate('12345', '143', 'ax')
SELECT ascii('x'), chr(65)
SELECT ordered_at::date, ordered_at::time FROM orders
SELECT string_to_array('a,b,c', ',')
SELECT array_to_string(ARRAY[1, 2], '-')
SELECT array_position(ARRAY['a', 'b'], 'b'), array_append(ARRAY[1], 2)
select p.name, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join products p using (product_id) where o.ordered_at >= date '2025-11-05' and o.ordered_at < date '2026-11-06' group by p.product_id, p.name order by 2 desc
select date_trunc('month', o.ordered_at), count(*) from orders o where o.ordered_at >= date '2026-01-01' and o.ordered_at < date '2027-01-01' group by 1
select p.name, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join products p using (product_id) where o.ordered_at >= date '2026-10-01' and o.ordered_at < date '2026-11-01' group by p.product_id, p.name order by 2 desc, 1 limit 10
select date_trunc('quarter', o.ordered_at), sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) group by 1
select sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) where o.ordered_at >= date '2026-01-01' and o.ordered_at < date '2027-01-01'
select count(*) from orders o where o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01'
select date_trunc('month', o.ordered_at), sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) where o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01' group by 1
select p.category, date_trunc('year', o.ordered_at), sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join products p using (product_id) group by 1,2
select p.name, sum(l.quantity) from order_lines l join orders o using (order_id) join products p using (product_id) where o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01' group by p.product_id, p.name order by 2 desc limit 1
select o.order_id from orders o where ordered_at >= date '2026-03-01'
select sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) where o.ordered_at >= date '2026-08-07' and o.ordered_at < date '2026-11-06'
select date_trunc('month', o.ordered_at), sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) where o.ordered_at >= date '2026-01-01' and o.ordered_at < date '2026-11-06' group by 1
select count(*) from orders where ordered_at >= date '2025-03-01' and ordered_at < date '2025-04-16'
select o.order_id from orders o where ordered_at >= date '2025-07-01' and ordered_at < date '2025-10-01'
select count(*) from customers where joined_on >= date '2025-01-01' and joined_on < date '2026-01-01'
select date_trunc('month', joined_on), count(*) from customers group by 1
select distinct c.customer_id, c.name from orders o join customers c using (customer_id) where c.country='Spain' and o.ordered_at >= date '2026-01-01' and o.ordered_at < date '2027-01-01'
select sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) where c.country='France' and o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01'
select customer_id, name from customers where joined_on >= date '2026-01-01' and joined_on < date '2027-01-01'
select date_trunc('month', o.ordered_at), count(*) from orders o group by 1 order by 2 desc limit 1
select date_trunc('month', o.ordered_at), sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) group by 1 order by 2 desc limit 1
select count(*) from orders o where o.ordered_at >= date '2026-10-01' and o.ordered_at < date '2026-11-01' and channel='web'
select p.category, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join products p using (product_id) where o.ordered_at >= date '2026-10-01' and o.ordered_at < date '2026-11-01' group by 1 having sum(l.quantity*l.unit_price)<1000
select sum(l.quantity) from order_lines l join orders o using (order_id) join products p using (product_id) where p.name='Teddy Bear' and o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01'
select name from customers where joined_on >= date '2025-01-01' and joined_on < date '2026-01-01' and customer_id not in (select customer_id from orders)
select count(*) from orders o join customers c using (customer_id) where c.country='Netherlands' and o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01'
select p.name, sum(l.quantity) from order_lines l join orders o using (order_id) join products p using (product_id) where o.ordered_at >= date '2026-01-01' and o.ordered_at < date '2027-01-01' group by p.product_id, p.name order by 2 desc, 1 limit 10
select date_trunc('month', o.ordered_at), count(*) from orders o where status='cancelled' group by 1
select c.name, sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join customers c using (customer_id) where o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01' group by c.customer_id, c.name order by 2 desc limit 1
select distinct c.customer_id, c.name from orders o join customers c using (customer_id) where o.ordered_at >= date '2026-10-06' and o.ordered_at < date '2026-11-06'
select sum(l.quantity) from order_lines l join orders o using (order_id) where o.ordered_at >= date '2026-10-01' and o.ordered_at < date '2026-11-01'
select count(distinct l.product_id) from order_lines l join orders o using (order_id) where o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01'
select date_trunc('day', o.ordered_at), count(*) from orders o where o.ordered_at >= date '2026-10-01' and o.ordered_at < date '2026-11-01' group by 1
select date_trunc('month', joined_on), count(*) from customers where joined_on >= date '2025-01-01' and joined_on < date '2026-01-01' group by 1
select p.category from order_lines l join orders o using (order_id) join products p using (product_id) where o.ordered_at >= date '2025-01-01' and o.ordered_at < date '2026-01-01' group by 1 having sum(l.quantity*l.unit_price)>5000
select date_trunc('quarter', o.ordered_at), sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) join products p using (product_id) where p.category='Electronics' group by 1
select sum(l.quantity*l.unit_price) from order_lines l join orders o using (order_id) where o.ordered_at >= date '2026-10-26' and o.ordered_at < date '2026-11-02'
select p.category, sum(l.quantity) from order_lines l join orders o using (order_id) join products p using (product_id) where o.ordered_at >= date '2026-10-01' and o.ordered_at < date '2027-01-01' group by 1

-- engines: duckdb sqlite
SELECT instr(name, 'a') FROM customers
SELECT printf('%05d', customer_id) FROM customers
SELECT group_concat(name) FROM products
SELECT median(unit_price) FROM products
SELECT strftime(ordered_at, '%Y-%m') FROM orders
SELECT strftime('%Y-%m', ordered_at) AS month, count(*) FROM orders GROUP BY 1
SELECT json_extract('{"a": {"b": 1}}', '$.a.b')
SELECT json_object('name', name) FROM products
SELECT json_group_array(name) FROM products
SELECT '{"a": 1}' ->> 'a'
SELECT name FROM customers ORDER BY name COLLATE NOCASE
SELECT name, sql FROM sqlite_schema WHERE type = 'table'
SELECT 1e10, .5, 1_000, 0x1F
SELECT typeof(unit_price) FROM products
SELECT name FROM products WHERE name GLOB 'T*'
select count(*) from (select order_id from order_lines group by 1 having count(*)>3)
select avg(n) from (select customer_id, count(*) n from orders group by 1)
select median(unit_price) from products
select avg(n) from (select order_id, sum(quantity) n from order_lines group by 1)

-- engines: duckdb
SELECT name FROM customers WHERE regexp_matches(name, '^A.*')
SELECT list(name ORDER BY unit_price DESC) FROM products
SELECT try_cast('x' AS integer)
SELECT approx_count_distinct(customer_id) FROM orders
SELECT arg_max(name, unit_price) FROM products
SELECT range FROM range(10)
SELECT unnest([1, 2, 3])
SELECT ARRAY[1, 2, 3][2]
SELECT x'01', [x + 1 FOR x IN [1, 2]], {'a': 1}.a
SELECT hash(name) FROM customers
SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at) = 1
FROM orders SELECT channel, count(*) GROUP BY ALL ORDER BY ALL
FROM orders
SELECT * EXCLUDE (status) FROM orders
SELECT * REPLACE (upper(status) AS status) FROM orders
SELECT COLUMNS('.*_id') FROM orders
SELECT channel, count(*) FROM orders GROUP BY ALL
SELECT * FROM orders PIVOT (count(*) FOR channel IN ('web', 'store'))
PIVOT orders ON channel USING count(*) GROUP BY status
PIVOT orders ON channel, year(ordered_at) USING count(*), max(order_id) GROUP BY status ORDER BY status LIMIT 3
PIVOT orders ON channel || '/' || status USING count(*)
PIVOT (SELECT * FROM orders JOIN customers USING (customer_id)) ON country USING count(*) GROUP BY channel
PIVOT orders ON channel IN (SELECT channel FROM orders WHERE status = 'returned') USING count(*)
FROM (PIVOT orders ON status /* ON channel; */ USING count(*) GROUP BY channel) SELECT channel
WITH p AS (PIVOT orders ON channel USING count(*) GROUP BY status) SELECT * FROM p JOIN p AS q USING (status)
PIVOT_WIDER products ON category USING avg(unit_price)
UNPIVOT (SELECT product_id, unit_price FROM products) ON unit_price INTO NAME what VALUE how_much
UNPIVOT products ON COLUMNS(* EXCLUDE (name, category)) INTO NAME what VALUE how_much
SUMMARIZE SELECT * FROM orders WHERE channel = 'web'
DESCRIBE SELECT 1 AS one
SHOW ALL TABLES
SHOW orders
SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR k IN (a, b))
SUMMARIZE customers
DESCRIBE orders
SHOW TABLES
SELECT * FROM customers ASOF JOIN orders ON customers.joined_on <= orders.ordered_at LIMIT 3
SELECT * FROM orders USING SAMPLE 10 ROWS
SELECT time_bucket(interval '1 week', ordered_at) FROM orders
SELECT datediff('day', timestamp '2025-01-01', ordered_at) FROM orders
SELECT last_day(ordered_at) FROM orders
SELECT monthname(ordered_at), dayname(ordered_at) FROM orders
SELECT levenshtein('kitten', 'sitting')
SELECT jaccard('duck', 'luck')
SELECT struct_pack(a := 1, b := 'x')
SELECT map(['a'], [1])['a']
SELECT string_split('a,b,c', ',')
SELECT histogram(quantity) FROM order_lines
SELECT quantile_cont(unit_price, [0.25, 0.5, 0.75]) FROM products
select c.segment, avg(v) from (select o.*, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by all) o join customers c using (customer_id) group by 1
select median(v) from (select o.*, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by all)
select max(v) from (select o.*, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by all)
select order_id, v from (select o.*, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by all) order by v desc limit 1
select isodow(ordered_at), count(*) from orders group by 1
select avg(v) from (select o.*, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by all)
select c.country, avg(v) from (select o.*, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by all) o join customers c using (customer_id) where o.ordered_at >= date '2026-01-01' and o.ordered_at < date '2027-01-01' group by 1
select order_id from (select o.*, sum(l.quantity*l.unit_price) v from order_lines l join orders o using (order_id) group by all) where v>500

-- engines: postgres
SELECT initcap(name) FROM customers
SELECT every(unit_price > 1) FROM products
SELECT to_char(ordered_at, 'YYYY-MM') AS month, count(*) FROM orders GROUP BY 1
SELECT to_date('2025-01-31', 'YYYY-MM-DD')
SELECT '{"a": {"b": [1, 2]}}'::jsonb #>> '{a,b,1}'
SELECT jsonb_array_elements('[1, 2, 3]'::jsonb)
SELECT key, value FROM jsonb_each_text('{"a": 1}'::jsonb)
SELECT json_build_object('name', name, 'price', unit_price) FROM products
SELECT jsonb_agg(name) FROM products
SELECT jsonb_path_query('{"a": [1, 2]}'::jsonb, '$.a[*] ? (@ > 1)')
SELECT to_jsonb(p) ->> 'name' FROM products p
SELECT encode(sha256(name::bytea), 'hex') FROM customers
SELECT * FROM orders TABLESAMPLE BERNOULLI (50)
SELECT U&'\2603' AS snow
SELECT B'101', X'1FF'
SELECT width_bucket(unit_price, 0, 400, 8) AS bucket, count(*) FROM products GROUP BY 1
SELECT to_number('1,234.5', '9G999D9')
SELECT date_bin('15 minutes', ordered_at, timestamp '2024-01-01') AS quarter_hour, count(*) FROM orders GROUP BY 1
SELECT (timestamp '2025-01-01', timestamp '2025-06-01') OVERLAPS (timestamp '2025-03-01', timestamp '2025-09-01')
SELECT isfinite(date '2025-01-01'), justify_hours(interval '27 hours')
SELECT int4range(1, 5) @> 3
SELECT '10.0.0.0/8'::inet >> '10.1.2.3'::inet
SELECT to_tsvector('english', name) @@ to_tsquery('english', 'train') FROM products

-- engines: sqlite
SELECT max(1, 2, 3), min(1, 2, 3)
SELECT total(quantity) FROM order_lines
SELECT date(ordered_at), time(ordered_at) FROM orders
SELECT date('now', '-1 month', 'start of month')
SELECT julianday(ordered_at) - julianday('2024-01-01') FROM orders
SELECT unixepoch(ordered_at) FROM orders
SELECT hex('abc'), quote('it''s')
SELECT iif(unit_price > 50, 'dear', 'cheap') FROM products
SELECT unicode('x'), char(65)

-- engines: mariadb
SELECT `status` AS `select`, `channel` AS `from` FROM `orders` WHERE `status` = 'pending'
SELECT 'it\'s; -- not a comment' AS said, "drop table orders" AS also
SELECT 1 # a comment; with DELETE FROM orders in it
SELECT '/*! not a comment */' AS said, '--1' AS also, '# nor this' AS nor
SELECT name FROM customers WHERE name LIKE '50\\%' ESCAPE '\\'
SELECT name FROM customers WHERE name LIKE '50|%' ESCAPE '|'
SELECT date_format(ordered_at, '%Y-%m') AS month, count(*) FROM orders GROUP BY month ORDER BY month
SELECT year(ordered_at) AS y, quarter(ordered_at) AS q, count(*) FROM orders GROUP BY y, q WITH ROLLUP
SELECT country, city, count(*) FROM customers GROUP BY country, city WITH ROLLUP
SELECT group_concat(DISTINCT country ORDER BY country DESC SEPARATOR ', ') FROM customers
SELECT group_concat(name ORDER BY unit_price DESC LIMIT 3) FROM products
SELECT category, group_concat(concat(name, ' (', unit_price, ')') SEPARATOR '; ') FROM products GROUP BY category
SELECT if(unit_price > 50, 'dear', 'cheap') AS how, count(*) FROM products GROUP BY how
SELECT ifnull(nullif(city, 'Berlin'), 'the capital') FROM customers
SELECT ordered_at, ordered_at + INTERVAL 1 MONTH - INTERVAL 1 DAY FROM orders LIMIT 3
SELECT count(*) FROM orders WHERE ordered_at >= '2026-01-01' - INTERVAL 90 DAY
SELECT count(*) FROM orders WHERE ordered_at BETWEEN DATE '2025-01-01' AND DATE '2025-12-31'
SELECT count(*) FROM orders WHERE ordered_at >= TIMESTAMP '2025-01-01 00:00:00'
SELECT date_add(joined_on, INTERVAL '1:30' MINUTE_SECOND), date_sub(joined_on, INTERVAL 2 QUARTER) FROM customers LIMIT 2
SELECT timestampdiff(MONTH, joined_on, '2026-11-05') AS months, count(*) FROM customers GROUP BY months
SELECT datediff('2026-11-05', joined_on), to_days(joined_on), from_days(739000) FROM customers LIMIT 2
SELECT dayname(ordered_at), dayofweek(ordered_at), weekday(ordered_at), hour(ordered_at) FROM orders LIMIT 3
SELECT week(ordered_at, 3), yearweek(ordered_at, 1), weekofyear(ordered_at), dayofyear(ordered_at) FROM orders LIMIT 3
SELECT last_day(ordered_at), makedate(2025, 32), maketime(12, 30, 0), sec_to_time(3600) FROM orders LIMIT 1
SELECT extract(YEAR_MONTH FROM ordered_at) AS ym, count(*) FROM orders GROUP BY ym
SELECT str_to_date('05.11.2026', '%d.%m.%Y'), unix_timestamp('2026-11-05'), from_unixtime(0)
SELECT curdate() > '2020-01-01', now() > '2020-01-01', utc_timestamp() IS NOT NULL, current_timestamp(6) IS NOT NULL
SELECT convert_tz('2026-11-05 12:00:00', '+00:00', '+01:00'), time_format('12:30:00', '%H'), timediff('12:00', '11:30')
SELECT period_add(202601, 2), period_diff(202603, 202601), adddate('2026-01-01', 31), subdate('2026-01-01', 31)
SELECT concat(name, ' of ', city), concat_ws(', ', city, country) FROM customers LIMIT 3
SELECT substring_index(name, ' ', 1) AS first, substring_index(name, ' ', -1) AS last FROM customers
SELECT left(name, 3), right(name, 3), mid(name, 2, 2), substring(name, 2), substring(name FROM 2 FOR 3) FROM customers LIMIT 2
SELECT upper(name), lcase(name), char_length(name), length(name), reverse(name), repeat('x', 3) FROM products LIMIT 2
SELECT trim(LEADING 'x' FROM 'xxa'), ltrim(' a'), rtrim('a '), lpad(7, 3, '0'), rpad('a', 3, '.')
SELECT locate('a', name), instr(name, 'a'), position('a' IN name), field(category, 'Toys', 'Books') FROM products
SELECT find_in_set('b', 'a,b,c'), elt(2, 'a', 'b'), make_set(5, 'a', 'b', 'c'), export_set(5, 'Y', 'N', ',', 4)
SELECT replace(name, ' ', '-'), insert(name, 1, 1, 'X'), ascii(name), hex(name), unhex('41') FROM products LIMIT 2
SELECT name REGEXP '^[A-C]', name NOT RLIKE 'z', regexp_replace(name, '[aeiou]', ''), regexp_substr(name, '[a-z]+') FROM products
SELECT name SOUNDS LIKE 'Radio', soundex(name) FROM products
SELECT name COLLATE utf8mb4_bin FROM products ORDER BY name COLLATE utf8mb4_general_ci
SELECT BINARY 'a' = 'A', 'a' = 'A', strcmp('a', 'b'), _utf8mb4'x', N'y', x'41', 0x42, b'1'
SELECT format(1234567.891, 2), round(2.5), truncate(2.567, 1), ceil(2.1), floor(2.9), mod(7, 2), 7 DIV 2, 7 % 2, 7 MOD 2
SELECT abs(-1), sign(-2), pow(2, 10), sqrt(16), exp(1), ln(2), log(2, 8), log10(100), greatest(1, 2), least(1, 2)
SELECT conv('ff', 16, 10), bin(5), oct(8), hex(255), bit_count(7), ~1 & 3 | 4 ^ 5 << 1 >> 1
SELECT cast('12' AS unsigned), cast(1.5 AS decimal(10, 1)), cast(12 AS char), convert('7', signed), convert('a' USING utf8mb4)
SELECT cast('2026-01-02' AS date), cast('2026-01-02 03:04:05' AS datetime(6)), cast('12:00' AS time)
SELECT 1 XOR 0, 1 AND NOT 0, TRUE && FALSE, NOT FALSE, 1 <=> NULL, NULL IS UNKNOWN, 2 BETWEEN 1 AND 3
SELECT md5('a'), sha1('a'), sha2('a', 256), crc32('a'), to_base64('a'), from_base64('YQ==')
SELECT inet_aton('10.0.0.1'), inet_ntoa(167772161), is_ipv4('10.0.0.1')
SELECT json_extract('{"a": [1, 2]}', '$.a[1]'), json_unquote(json_extract('{"a": "x"}', '$.a')), json_valid('{}')
SELECT json_object('name', name, 'price', unit_price) FROM products
SELECT json_arrayagg(name) FROM products WHERE category = 'Toys'
SELECT json_objectagg(name, unit_price) FROM products WHERE category = 'Toys'
SELECT json_length('[1, 2]'), json_keys('{"a": 1}'), json_contains('[1, 2]', '1'), json_type('{}'), json_search('["a"]', 'one', 'a')
SELECT jt.* FROM json_table('[{"a": 1}, {"a": 2}]', '$[*]' COLUMNS (n FOR ORDINALITY, a int PATH '$.a')) AS jt
SELECT std(unit_price), stddev_pop(unit_price), stddev_samp(unit_price), variance(unit_price), var_samp(unit_price) FROM products
SELECT bit_or(product_id), bit_and(product_id), bit_xor(product_id) FROM products
SELECT count(DISTINCT country, city) FROM customers
SELECT category, median(unit_price) OVER (PARTITION BY category) FROM products
SELECT DISTINCT category, percentile_cont(0.9) WITHIN GROUP (ORDER BY unit_price) OVER (PARTITION BY category) FROM products
SELECT name, unit_price, sum(unit_price) OVER w, avg(unit_price) OVER w FROM products WINDOW w AS (PARTITION BY category ORDER BY unit_price)
SELECT order_id, lag(ordered_at, 1) OVER (PARTITION BY customer_id ORDER BY ordered_at) FROM orders
SELECT category, name, rank() OVER (PARTITION BY category ORDER BY unit_price DESC) AS place FROM products
SELECT * FROM orders ORDER BY ordered_at DESC LIMIT 5, 10
SELECT * FROM orders ORDER BY ordered_at DESC LIMIT 10 OFFSET 5
SELECT STRAIGHT_JOIN count(*) FROM customers c JOIN orders o ON o.customer_id = c.customer_id
SELECT count(*) FROM customers c STRAIGHT_JOIN orders o ON o.customer_id = c.customer_id
SELECT count(*) FROM orders o FORCE INDEX (PRIMARY) JOIN customers c USE INDEX (PRIMARY) USING (customer_id)
SELECT SQL_NO_CACHE count(*) FROM orders
SELECT SQL_CALC_FOUND_ROWS order_id FROM orders LIMIT 1
SELECT DISTINCTROW country FROM customers
SELECT HIGH_PRIORITY count(*) FROM orders
SELECT 1 FROM DUAL
SELECT 1 FROM DUAL WHERE EXISTS (SELECT 1 FROM orders)
SELECT * FROM (SELECT country, count(*) AS n FROM customers GROUP BY country) AS t WHERE n > 3
SELECT (1, 2) = (1, 2), ROW(1, 2) IN (ROW(1, 2), ROW(3, 4))
SELECT customer_id FROM customers WHERE (country, city) IN (SELECT country, city FROM customers WHERE segment = 'Public')
SELECT name FROM products WHERE unit_price >= ALL (SELECT unit_price FROM products)
SELECT name FROM products WHERE unit_price < ANY (SELECT unit_price FROM products WHERE category = 'Books')
SELECT customer_id FROM customers EXCEPT ALL SELECT customer_id FROM orders
(SELECT name FROM customers ORDER BY name LIMIT 2) UNION ALL (SELECT name FROM products ORDER BY name LIMIT 2) ORDER BY 1
WITH RECURSIVE months(m) AS (SELECT DATE '2025-01-01' UNION ALL SELECT m + INTERVAL 1 MONTH FROM months WHERE m < '2025-12-01') SELECT months.m, count(o.order_id) FROM months LEFT JOIN orders o ON date_format(o.ordered_at, '%Y-%m-01') = months.m GROUP BY months.m
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5000) SELECT count(*) FROM t
WITH a(x) AS (SELECT 1), b(y) AS (SELECT x + 1 FROM a) SELECT * FROM a JOIN b
SELECT c.name, (SELECT max(o.ordered_at) FROM orders o WHERE o.customer_id = c.customer_id) AS latest FROM customers c
SELECT p.category, sum(l.quantity * l.unit_price) AS revenue FROM order_lines l JOIN products p USING (product_id) GROUP BY p.category HAVING revenue > 100 ORDER BY revenue DESC
SELECT country, sum(segment = 'Business') AS business, sum(segment = 'Public') AS public, avg(segment = 'Public') FROM customers GROUP BY country
SELECT CASE WHEN unit_price < 20 THEN 'low' WHEN unit_price < 100 THEN 'mid' ELSE 'high' END AS band, count(*) FROM products GROUP BY band
SELECT TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = database()
SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.columns WHERE table_name = 'orders' AND table_schema = schema()
SELECT database(), version(), current_user(), user()
SELECT st_distance(point(0, 0), point(3, 4)), st_astext(st_buffer(point(0, 0), 0)), st_x(point(1, 2))
SELECT uuid() IS NOT NULL, rand(7) < 1
SELECT 'a' 'b' AS ab, concat('\\', '\'', "\"", '\n') AS escapes, '' AS nothing
SELECT order_id AS `a``b`, status AS "a b", channel AS 'c' FROM orders LIMIT 1
SELECT order_id, /* and when */ ordered_at FROM orders LIMIT 1 -- the newest
